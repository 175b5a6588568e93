"""Whether each collector can run on this host, and if not, why and what helps."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tracer.bpf import syscalls
from tracer.bpf.btf import VMLINUX
from tracer.bpf.program import kernel_version
from tracer.bpf.tracefs import has_tracefs
from tracer.protocol import COLLECTORS

_OLDEST_KERNEL = (5, 15, 0)  # the first with probe cookies and with user registers in tracepoint programs
_INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of linux/proc_ns.h
LIBDW = "libdw.so.1"


@cache
def abilities() -> dict[str, str]:
    """Collector to an empty string, or to a sentence that says why it can't run here. Asked once a process."""
    return {name: _first_obstacle(_EVERY_COLLECTOR + _OWN_NEEDS[name]) for name in COLLECTORS}


def _first_obstacle(needs: tuple[Callable[[], str], ...]) -> str:
    return next((obstacle for need in needs if (obstacle := need())), "")


def _machine() -> str:
    machine = platform.machine()
    return "" if machine == "x86_64" else f"This machine is {machine}; the collectors know x86_64 only."


def _root() -> str:
    return "" if os.geteuid() == 0 else "memflame must be root to load BPF programs."


def _kernel() -> str:
    if kernel_version() >= _OLDEST_KERNEL:
        return ""
    return f"Linux {platform.release()} is too old, 5.15 or newer is needed."


def _bcc() -> str:
    if importlib.util.find_spec("bcc") is None:
        return "bcc is missing: install the package python3-bpfcc, and use /usr/bin/python3."
    return ""


def _packages() -> str:
    needed = ("capstone", "symbolic", "multi_demangle")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    return f"The Python packages {', '.join(missing)} are missing." if missing else ""


def _host_pids() -> str:
    # BPF sees the host's process numbers; those of a container mean other processes.
    if os.readlink("/proc/self/ns/pid") == _INITIAL_PID_NAMESPACE:  # noqa: PTH115 - a link that is no path
        return ""
    return "memflame runs in a container with process numbers of its own; start it with the host's (--pid=host)."


def _may_load() -> str:
    try:
        os.close(syscalls.load_trivial_program())
    except OSError as error:
        return f"The kernel refuses BPF programs: {error.strerror}."
    return ""


def _uprobes() -> str:
    place = Path("/sys/bus/event_source/devices/uprobe/type")
    return "" if place.exists() else "This kernel has no uprobes (CONFIG_UPROBE_EVENTS)."


def _software_events() -> str:
    place = Path("/proc/sys/kernel/perf_event_paranoid")
    return "" if place.exists() else "This kernel has no perf events (CONFIG_PERF_EVENTS)."


def _type_information() -> str:
    return "" if VMLINUX.exists() else f"This kernel gives no type information (BTF): {VMLINUX} is missing."


def _tracefs() -> str:
    return "" if has_tracefs() else "This kernel has no tracefs, which describes its tracepoints."


def _unwinder() -> str:
    try:
        ctypes.CDLL(LIBDW)
    except OSError:
        return f"{LIBDW} is missing: install the package libdw1."
    return ""


_EVERY_COLLECTOR = (_machine, _root, _kernel, _host_pids, _bcc, _packages, _may_load)
_OWN_NEEDS: dict[str, tuple[Callable[[], str], ...]] = {
    "malloc": (_uprobes,),
    "brk": (_tracefs, _type_information, _unwinder),
    "mmap": (_tracefs, _unwinder),
    "page_faults": (_software_events, _unwinder),
}
