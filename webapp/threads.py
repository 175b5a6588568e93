"""ASGI in front of Django: requests run on threads that stay, and with a thread stays its database connection.

Django gives each request a thread of its own, so each request opens a connection: 10 ms of SQLite, more of PostgreSQL,
which is most of what a small answer takes.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor

from asgiref.sync import ThreadSensitiveContext

from webapp.middleware import App, Receive, Scope, Send

KEPT = 16  # threads, each with a connection; a request more than these run gets a thread that ends with it


class KeptThreads:
    """The application, run by a thread that is free, or by a new one: nobody waits for another's request."""

    def __init__(self, application: App, kept: int = KEPT) -> None:
        self._application, self._kept = application, kept
        self.free: list[ThreadPoolExecutor] = []  # touched by the event loop only; the last used is the first again

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        thread = self.free.pop() if self.free else ThreadPoolExecutor(1, thread_name_prefix="request")
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self._application(scope, receive, send)
        finally:
            self._give_back(thread)

    def _give_back(self, thread: ThreadPoolExecutor) -> None:
        """Once it has nothing more to do: of a request whose client is gone, a view may still be running."""
        loop = asyncio.get_running_loop()

        def is_idle(_: Future[None]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._keep, thread)

        thread.submit(lambda: None).add_done_callback(is_idle)

    def _keep(self, thread: ThreadPoolExecutor) -> None:
        if len(self.free) < self._kept:
            self.free.append(thread)
        else:
            thread.shutdown(wait=False)
