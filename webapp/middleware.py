"""ASGI in front of Django: bodies are counted as they arrive, and only so many uploads come in at once."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.http import HttpRequest

from webapp.errors import RETRY_AFTER_S, is_for_machines

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SYMBOLS_PATH = re.compile(r"^/api/v1/projects/[^/]+/symbols$")
UPLOAD_PATH = re.compile(
    rf"{SYMBOLS_PATH.pattern}"
    r"|^/(api/v1/runs/[^/]+/(snapshots|files)/|api/v1/(projects/[^/]+/)?uploads$|(p/[^/]+/)?upload$"
    r"|ingest$|push\.v1\.PusherService/Push$)"
)
SLOT = "memflame.upload_slot"

# A client that is still sending when it is refused loses the answer if we close at once: swallow this much more first.
DRAIN_BYTES = 8 << 20
DRAIN_S = 3.0
IDLE_S = 30.0  # a body that stands still for longer would keep a place for ever


class UploadSlot:
    """One of the places for uploads; given back once, by the view when the body is stored, or at the end."""

    def __init__(self, slots: asyncio.Semaphore, loop: asyncio.AbstractEventLoop) -> None:
        self._slots, self._loop, self._is_held = slots, loop, True

    def release(self) -> None:
        if self._is_held:
            self._is_held = False
            self._loop.call_soon_threadsafe(self._slots.release)


def release_upload_slot(request: HttpRequest) -> None:
    """Let the next upload in; what follows in this request only waits."""
    slot = getattr(request, "scope", {}).get(SLOT)
    if slot is not None:
        slot.release()


class _Body:
    """Counts what arrives, and ends the wait for a client that sends nothing more."""

    def __init__(self, receive: Receive, max_bytes: int) -> None:
        self._receive, self._max_bytes = receive, max_bytes
        self.arrived, self.is_whole, self.is_stalled = 0, False, False

    async def receive(self) -> Message:
        try:
            async with asyncio.timeout(None if self.is_whole else IDLE_S):
                message = await self._receive()
        except TimeoutError:
            self.is_stalled = True
            return {"type": "http.disconnect"}
        self.arrived += len(message.get("body", b""))
        self.is_whole = not message.get("more_body", False)
        return message if self.arrived <= self._max_bytes else {"type": "http.disconnect"}


class UploadGate:
    """Answers 413 before Django reads a body over its limit, with or without Content-Length, and 503 when full."""

    def __init__(self, app: App, *, max_bytes: int, max_uploads: int, max_symbol_bytes: int = 0) -> None:
        """Files of symbols may be larger than other bodies."""
        self.app, self.slots = app, asyncio.Semaphore(max_uploads)
        self._max_bytes, self._max_symbol_bytes = max_bytes, max_symbol_bytes or max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = _content_length(scope)
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            await _refuse(scope, receive, send, 400, "The address holds a NUL.")  # which no database takes in a text
        elif declared > (limit := self._limit(scope)):
            await _refuse(scope, receive, send, 413, _too_big(f"{declared:,}", limit))
        elif not _is_upload(scope):
            await self._count(scope, receive, send)
        elif self.slots.locked():
            full = f"The site takes no more uploads at once; try again in {RETRY_AFTER_S} s."
            await _refuse(scope, receive, send, 503, full)
        else:
            await self._take_slot(scope, receive, send)

    async def _take_slot(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.slots.acquire()
        slot = UploadSlot(self.slots, asyncio.get_running_loop())
        scope[SLOT] = slot
        try:
            await self._count(scope, receive, send)
        finally:
            slot.release()

    async def _count(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the body on; when it is refused Django hears that the client is gone, and we answer in its place."""
        limit = self._limit(scope)
        body = _Body(receive, limit)
        await self.app(scope, body.receive, send)
        if body.arrived > limit:
            await _refuse(scope, receive, send, 413, _too_big(f"more than {limit:,}", limit))
        elif body.is_stalled:
            await _refuse(scope, receive, send, 408, f"No byte came for {IDLE_S:.0f} s; nothing was stored.")

    def _limit(self, scope: Scope) -> int:
        is_symbols = _is_upload(scope) and SYMBOLS_PATH.match(scope["path"])
        return self._max_symbol_bytes if is_symbols else self._max_bytes


def _too_big(amount: str, limit: int) -> str:
    return f"The body has {amount} bytes, the limit is {limit:,} bytes; nothing was stored."


def _is_upload(scope: Scope) -> bool:
    return scope["method"] in ("POST", "PUT") and UPLOAD_PATH.match(scope["path"]) is not None


def _content_length(scope: Scope) -> int:
    text = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return int(text) if text.isdigit() else 0


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, sentence: str) -> None:
    """JSON for machines; on a page the sentence alone, which the page shows where it stands."""
    is_api = is_for_machines(scope["path"])
    body = (json.dumps({"error": sentence}) if is_api else sentence).encode()
    headers = [
        (b"content-type", b"application/json" if is_api else b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *([(b"retry-after", str(RETRY_AFTER_S).encode())] if status == 503 else []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    await _drain(receive)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _drain(receive: Receive) -> None:
    swallowed = 0
    try:
        async with asyncio.timeout(DRAIN_S):
            while swallowed < DRAIN_BYTES:
                message = await receive()
                swallowed += len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
    except TimeoutError:
        return
