"""Requests run on threads that stay, and none waits for another's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from webapp.threads import KeptThreads

Work = Callable[[], int]


def application(work: Work, seen: list[int]) -> Any:
    """Runs `work` as Django runs a view, and notes what it returned."""

    async def run(scope: Any, receive: Any, send: Any) -> None:
        seen.append(await sync_to_async(work, thread_sensitive=True)())

    return run


async def ask(app: KeptThreads) -> None:
    before = len(app.free)
    try:
        await app({"type": "http"}, _nothing, _swallow)
    finally:
        await _until(lambda: len(app.free) >= max(1, before))  # the thread comes back after the answer


async def _nothing() -> Any:
    return {}


async def _swallow(message: Any) -> None:
    pass


def test_one_request_after_the_other_runs_on_one_thread() -> None:
    seen: list[int] = []

    async def three() -> None:
        app = KeptThreads(application(threading.get_ident, seen))
        for _ in range(3):
            await ask(app)

    asyncio.run(three())

    assert len(set(seen)) == 1 and len(seen) == 3
    assert seen[0] != threading.get_ident()


def test_requests_at_the_same_time_do_not_wait_for_each_other() -> None:
    seen: list[int] = []
    together = threading.Barrier(5, timeout=20)

    def work() -> int:
        together.wait()  # broken unless all five run at once
        return threading.get_ident()

    async def five() -> None:
        app = KeptThreads(application(work, seen), kept=2)
        await asyncio.gather(*(ask(app) for _ in range(5)))

    asyncio.run(five())

    assert len(set(seen)) == 5


def test_only_so_many_threads_are_kept() -> None:
    seen: list[int] = []
    ends: list[threading.Thread] = []
    together = threading.Barrier(4, timeout=20)

    def work() -> int:
        ends.append(threading.current_thread())
        together.wait()
        return threading.get_ident()

    async def four() -> None:
        app = KeptThreads(application(work, seen), kept=1)
        await asyncio.gather(*(ask(app) for _ in range(4)))
        await _until(lambda: sum(thread.is_alive() for thread in ends) == 1)

    asyncio.run(four())


def test_a_view_that_fails_gives_its_thread_back() -> None:
    seen: list[int] = []
    answers: list[Callable[[], int]] = [lambda: 1 // 0, threading.get_ident]

    async def two() -> None:
        app = KeptThreads(application(lambda: answers.pop(0)(), seen))
        with pytest.raises(ZeroDivisionError):
            await ask(app)
        await ask(app)

    asyncio.run(two())

    assert len(seen) == 1


async def _until(is_met: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_met():
            await asyncio.sleep(0.02)
