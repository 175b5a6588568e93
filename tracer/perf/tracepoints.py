"""Whether events of a system call's tracepoint reach perf: a BPF program on it may keep them, for all tracers at once.

The kernel asks the programs of a tracepoint first; one that answers 0, as most tracing programs do, ends the event.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

from tracer.bpf.syscalls import open_tracepoint
from tracer.bpf.tracefs import ensure_tracefs

_NUMBERS = {"brk": 12, "mmap": 9, "mremap": 25}  # asm/unistd_64.h


def kept_back(events: Iterable[str]) -> list[str]:
    """Those of `syscalls:sys_enter_brk` and the like that do not arrive, tried on this very thread."""
    return [event for event in events if not _arrives(event)]


def _arrives(event: str) -> bool:
    name = event.removeprefix("syscalls:")
    number = int((ensure_tracefs() / "events" / "syscalls" / name / "id").read_text())
    fd = open_tracepoint(number, pid=0)
    try:
        # Nothing is asked for: brk() tells where the heap ends, the others refuse a length of 0.
        ctypes.CDLL(None).syscall(_NUMBERS[name.rpartition("_")[2]], 0, 0, 0, 0, -1, 0)
        return int.from_bytes(os.read(fd, 8), "little") > 0
    finally:
        os.close(fd)
