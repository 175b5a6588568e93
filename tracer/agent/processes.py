"""The live list: processes of this host as the New-run page offers them, read from /proc.

/proc/PID/stat of a service: `5123 (search (api)) S 1 5123 5123 0 -1 4194560 23001 …`
"""

from __future__ import annotations

import os
import pwd
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

MAX_COMMAND_CHARACTERS = 300
MAX_PROCESSES = 2000  # the largest by resident memory; the site takes 4,000
MAX_COST = 0.02  # of one core: a host with many processes is listed less often
PF_KTHREAD = 0x00200000  # linux/sched.h
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class LiveProcess:
    """`start_time` is in clock ticks since boot: with the pid it names this process and no later one."""

    pid: int
    start_time: int
    command: str
    user: str
    rss_bytes: int
    started_at: str


class LiveList:
    """The list of now, at a bounded share of the processor."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._list: list[dict[str, Any]] = []
        self._next_at = float("-inf")

    def current(self) -> list[dict[str, Any]]:
        began = self._clock()
        if began >= self._next_at:
            largest = sorted(live_processes(), key=lambda process: process.rss_bytes, reverse=True)
            self._list = [asdict(process) for process in largest[:MAX_PROCESSES]]
            self._next_at = began + (self._clock() - began) / MAX_COST
        return self._list


def live_processes() -> Iterator[LiveProcess]:
    """All processes but kernel threads, zombies, and this agent with its children."""
    booted_at = _booted_at()
    stats = {pid: stat for pid in _pids() if (stat := _stat(pid))}
    for pid, stat in stats.items():
        if stat.is_kernel_thread or stat.state in "ZX" or _descends_from(pid, os.getpid(), stats):
            continue
        started_at = datetime.fromtimestamp(booted_at + stat.start_time / TICKS_A_SECOND, UTC)
        yield LiveProcess(
            pid=pid,
            start_time=stat.start_time,
            command=_command(pid) or f"[{stat.name}]",
            user=_owner(pid),
            rss_bytes=stat.rss_pages * PAGE_BYTES,
            started_at=started_at.isoformat(timespec="seconds"),
        )


def is_own(pid: int) -> bool:
    """The agent, or a process that it started: recording those would record the recording."""
    stats = {known: stat for known in _pids() if (stat := _stat(known))}
    return _descends_from(pid, os.getpid(), stats)


@dataclass(frozen=True, slots=True)
class _Stat:
    name: str
    state: str
    parent: int
    is_kernel_thread: bool
    start_time: int
    rss_pages: int


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _stat(pid: int) -> _Stat | None:
    """None once it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The name is in parentheses and may hold both, so count from its end: fields[0] is field 3, the state.
    head, _, tail = text.rpartition(")")
    fields = tail.split()
    return _Stat(
        name=head.partition("(")[2],
        state=fields[0],
        parent=int(fields[1]),
        is_kernel_thread=bool(int(fields[6]) & PF_KTHREAD),
        start_time=int(fields[19]),
        rss_pages=int(fields[21]),
    )


def _descends_from(pid: int, ancestor: int, stats: dict[int, _Stat]) -> bool:
    while pid in stats:
        if pid == ancestor:
            return True
        pid = stats[pid].parent
    return False


def _command(pid: int) -> str:
    try:
        with Path(f"/proc/{pid}/cmdline").open("rb") as file:
            text = file.read(4 * MAX_COMMAND_CHARACTERS).decode("utf-8", "replace")
    except OSError:
        return ""
    shown = "".join(c if c.isprintable() else " " for c in text).strip()
    return shown if len(shown) <= MAX_COMMAND_CHARACTERS else shown[: MAX_COMMAND_CHARACTERS - 1] + "…"


def _owner(pid: int) -> str:
    try:
        return _user_name(Path(f"/proc/{pid}").stat().st_uid)
    except OSError:
        return ""


@lru_cache(maxsize=1000)
def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)  # of a container's own users, or gone


@lru_cache(maxsize=1)
def _booted_at() -> int:
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith("btime "):
            return int(line.split()[1])
    raise OSError("/proc/stat has no btime")
