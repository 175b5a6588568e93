"""Functions to uprobe events in tracefs, under a group of this process; gone at the end, or with the next recording.

p:memflame_4711_812345/malloc_0 /usr/lib/x86_64-linux-gnu/libc.so.6:0x98930 size=%di:x64 caller=+0(%sp):x64
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tracer.bpf.tracefs import ensure_tracefs
from tracer.process.target import TargetError, read_status

_FREE_WITHIN_S = 5.0
_LOOK_AGAIN_S = 0.01
_GROUP = re.compile(r"[pr]:(memflame_(\d+)_(\d+))/(\S+) ")


@dataclass(frozen=True, slots=True)
class UprobeEvent:
    name: str  # letters, digits and underlines
    path: str
    offset: int  # in the file
    arguments: str  # as tracefs reads them


class Uprobes:
    """Events that exist until `close`; nothing is switched on by them."""

    def __init__(self) -> None:
        self._events = ensure_tracefs() / "uprobe_events"
        sweep(self._events)
        pid = os.getpid()
        self.group = f"memflame_{pid}_{read_status(pid).start_time}"
        self._names: list[str] = []

    def add(self, events: Sequence[UprobeEvent]) -> None:
        """OSError names the first that the kernel refuses."""
        for event in events:
            line = f"p:{self.group}/{event.name} {event.path}:{event.offset:#x} {event.arguments}"
            try:
                _write(self._events, line)
            except OSError as error:
                raise OSError(error.errno, f"{error.strerror} at {event.name}", event.path) from None
            self._names.append(event.name)

    def close(self) -> None:
        while self._names:
            _remove(self._events, self.group, self._names.pop())


def sweep(events: Path) -> None:
    """Take away what a process left that was killed; what is busy even so waits for the next time."""
    for group, pid, start_time, name in _listed(events):
        if not _is_alive(pid, start_time):
            with suppress(OSError):
                _remove(events, group, name)


def _listed(events: Path) -> Iterator[tuple[str, int, int, str]]:
    for line in events.read_text().splitlines():
        if found := _GROUP.match(line):
            yield found[1], int(found[2]), int(found[3]), found[4]


def _is_alive(pid: int, start_time: int) -> bool:
    try:
        return read_status(pid).start_time == start_time
    except TargetError:
        return False


def _remove(events: Path, group: str, name: str) -> None:
    """An event is busy until the perf that counted it has ended, which takes a moment after its tracer was killed."""
    deadline = time.monotonic() + _FREE_WITHIN_S
    while True:
        try:
            return _write(events, f"-:{group}/{name}")
        except OSError as error:
            if error.errno == errno.ENOENT:
                return  # another tracer's sweep was first
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
        time.sleep(_LOOK_AGAIN_S)


def _write(events: Path, line: str) -> None:
    # Appended without reading: opening this file to write anew takes everybody's events away.
    file = os.open(events, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, f"{line}\n".encode())
    finally:
        os.close(file)
