"""The live list against processes that the test started."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tracer.agent.processes import MAX_COMMAND_CHARACTERS, LiveList, is_own, live_processes

# Puts its own child into init's care, tells its pid, and both wait for the end of standard input.
DETACHED = """
import os, sys
if os.fork() == 0:
    os.setsid()
    print(os.getpid(), flush=True)
    sys.stdin.read()
"""


@contextmanager
def detached(*arguments: str) -> Iterator[int]:
    """A process that is no child of this one."""
    launcher = subprocess.Popen(
        [sys.executable, "-c", DETACHED, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert launcher.stdin is not None and launcher.stdout is not None
    pid = int(launcher.stdout.readline())
    launcher.wait()
    try:
        yield pid
    finally:
        launcher.stdin.close()
        launcher.stdout.close()


def test_a_process_is_listed_with_what_names_it() -> None:
    with detached("search-api", "--port=1") as pid:
        found = next(process for process in live_processes() if process.pid == pid)

        stat = Path(f"/proc/{pid}/stat").read_text()
    assert found.start_time == int(stat.rpartition(")")[2].split()[19])
    assert found.command.startswith(sys.executable)
    assert found.command.endswith("search-api --port=1")
    assert found.rss_bytes > 1 << 20
    assert found.user in ("root", os.environ.get("USER", "root"))
    assert abs(datetime.fromisoformat(found.started_at) - datetime.now(UTC)) < timedelta(seconds=5)


def test_a_long_command_is_cut_and_shown_on_one_line() -> None:
    with detached("first\nsecond", "x" * 1000) as pid:
        found = next(process for process in live_processes() if process.pid == pid)

    assert len(found.command) == MAX_COMMAND_CHARACTERS
    assert found.command.endswith("x…")
    assert found.command.isprintable()


def test_kernel_threads_and_our_own_processes_are_left_out() -> None:
    child = subprocess.Popen(["sleep", "30"])
    try:
        pids = {process.pid for process in live_processes()}
    finally:
        child.kill()
        child.wait()

    assert not {2, os.getpid(), child.pid} & pids
    assert all(not process.command.startswith("[kworker") for process in live_processes())


def test_own_processes_are_known() -> None:
    child = subprocess.Popen(["sleep", "30"])
    try:
        assert is_own(os.getpid())
        assert is_own(child.pid)
        assert not is_own(os.getppid())
    finally:
        child.kill()
        child.wait()


def test_the_list_costs_a_fiftieth_of_a_core_at_most() -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.1  # each look at the clock: so one list takes 0.1 s
        return now

    live = LiveList(clock)
    first = live.current()
    same = live.current()
    now += 5.0
    later = live.current()

    assert same is first
    assert later is not first
