"""tracefs, where the kernel describes its tracepoints: found, or mounted when nothing has done so yet."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from tracer.bpf.errors import BpfError

TRACEFS = Path("/sys/kernel/tracing")
_OLD_TRACEFS = Path("/sys/kernel/debug/tracing")


def ensure_tracefs() -> Path:
    """Mount tracefs unless it is there; it holds descriptions only, nothing is switched on by it."""
    for place in (TRACEFS, _OLD_TRACEFS):
        if is_tracefs(place):
            return place
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"nodev", str(TRACEFS).encode(), b"tracefs", 0, None) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise BpfError(f"tracefs is not mounted on {TRACEFS}, and mounting it failed: {reason}")
    return TRACEFS


def is_tracefs(place: Path) -> bool:
    return (place / "events").is_dir()


def has_tracefs() -> bool:
    """Whether tracefs is mounted or could be."""
    return is_tracefs(_OLD_TRACEFS) or TRACEFS.is_dir()
