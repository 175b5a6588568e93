"""This host to one check for each thing that recordings need of it."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from tracer.bpf import syscalls
from tracer.bpf.btf import VMLINUX
from tracer.bpf.program import has_multi_links, kernel_version
from tracer.bpf.tracefs import TRACEFS, has_tracefs
from tracer.collectors.check import Check, failure, ok, warning
from tracer.collectors.stacks import MAX_FRAMES
from tracer.options.pull import PULLED
from tracer.perf.recorder import perf_obstacle

LIBDW = "libdw.so.1"
_OLDEST_KERNEL = (5, 15, 0)  # the first with probe cookies and with user registers in tracepoint programs
_INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of linux/proc_ns.h
_PACKAGES = {"capstone": "capstone", "symbolic": "symbolic", "multi_demangle": "multi-demangle"}
# Bits of linux/capability.h: what the calls that a recording makes are asked for, when root has been cut down.
_CAPABILITIES = {"SYS_PTRACE": 19, "SYS_ADMIN": 21, "PERFMON": 38, "BPF": 39}
_LOCKDOWN, _JIT = Path("/sys/kernel/security/lockdown"), Path("/proc/sys/net/core/bpf_jit_enable")
_MAX_STACK, _PERF_EVENTS = Path("/proc/sys/kernel/perf_event_max_stack"), Path("/proc/sys/kernel/perf_event_paranoid")
_UPROBES = Path("/sys/bus/event_source/devices/uprobe/type")


def machine() -> Check:
    name = platform.machine()
    if name == "x86_64":
        return ok("machine", name)
    return failure("machine", f"This machine is {name}; the collectors know x86_64 only.")


def user() -> Check:
    if os.geteuid() == 0:
        return ok("user", "root")
    return failure("user", "memflame must be root to load BPF programs.", "sudo memflame doctor")


def kernel() -> Check:
    release = platform.release()
    if kernel_version() >= _OLDEST_KERNEL:
        return ok("kernel", f"Linux {release}")
    return failure("kernel", f"Linux {release} is too old, 5.15 or newer is needed.", "boot a newer kernel")


def capabilities() -> Check:
    return capabilities_of(Path("/proc/self/status").read_text())


def capabilities_of(status: str) -> Check:
    """Of the text of /proc/PID/status. Root in a container often has few."""
    effective = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:"))
    missing = [f"CAP_{name}" for name, bit in _CAPABILITIES.items() if not effective >> bit & 1]
    if not missing:
        return ok("capabilities", "all that tracing needs")
    adding = " ".join(f"--cap-add={name.removeprefix('CAP_')}" for name in missing)
    return failure("capabilities", f"memflame lacks {', '.join(missing)}.", f"in a container: docker run {adding}")


def process_numbers() -> Check:
    # BPF sees the host's process numbers; those of a container mean other processes.
    if os.readlink("/proc/self/ns/pid") == _INITIAL_PID_NAMESPACE:  # noqa: PTH115 - a link that is no path
        return ok("process numbers", "those of the host")
    why_not = "memflame runs in a container with process numbers of its own; start it with the host's (--pid=host)."
    return failure("process numbers", why_not, "docker run --pid=host")


def lockdown() -> Check:
    return lockdown_of(_LOCKDOWN.read_text() if _LOCKDOWN.exists() else "")


def lockdown_of(text: str) -> Check:
    """Of the text of /sys/kernel/security/lockdown, which brackets the mode that is on."""
    mode = text.partition("[")[2].partition("]")[0]
    if mode == "confidentiality":
        reason = "The kernel is locked down for confidentiality: BPF programs may not read memory."
        return failure("lockdown", reason, "boot with lockdown=integrity")
    return ok("lockdown", mode or "none")


def bcc() -> Check:
    if importlib.util.find_spec("bcc") is None:
        why_not = "bcc is missing: install the package python3-bpfcc, and use /usr/bin/python3."
        return failure("bcc", why_not, "apt-get install python3-bpfcc")
    return ok("bcc", bcc_version())


def bcc_bugs() -> Check:
    """Known ones, whatever the version: how we stay clear of them does not depend on it."""
    return ok("bugs of bcc", "probes are attached without bcc, whose version 0.26 passes an argument too few")


def packages() -> Check:
    missing = [name for module, name in _PACKAGES.items() if importlib.util.find_spec(module) is None]
    if missing:
        names = ", ".join(missing)
        return failure("packages", f"The Python packages {names} are missing.", f"pip install {' '.join(missing)}")
    return ok("packages", ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES.values()))


def loading() -> Check:
    try:
        os.close(syscalls.load_trivial_program())
    except OSError as error:
        return failure("loading", f"The kernel refuses BPF programs: {error.strerror}.", "run as root, on the host")
    return ok("loading", "the kernel takes BPF programs")


def compiler_of_programs() -> Check:
    """The kernel's, which turns BPF into machine code."""
    if _JIT.exists() and _JIT.read_text().strip() == "0":
        slow = "BPF programs are interpreted, which makes each event several times as dear."
        return warning("BPF compiler", slow, "sysctl -w net.core.bpf_jit_enable=1")
    return ok("BPF compiler", "on")


def type_information() -> Check:
    if VMLINUX.exists():
        return ok("type information", "BTF, so no kernel headers are needed")
    missing = f"This kernel gives no type information (BTF): {VMLINUX} is missing."
    return failure("type information", missing, "boot a kernel with CONFIG_DEBUG_INFO_BTF")


def tracefs() -> Check:
    if has_tracefs():
        return ok("tracefs", "there")
    missing = "This kernel has no tracefs, which describes its tracepoints."
    return failure("tracefs", missing, f"mount -t tracefs nodev {TRACEFS}")


def uprobes() -> Check:
    if _UPROBES.exists():
        return ok("uprobes", "there")
    missing = "This kernel has no uprobes (CONFIG_UPROBE_EVENTS)."
    return failure("uprobes", missing, "boot a kernel with CONFIG_UPROBE_EVENTS")


def probe_links() -> Check:
    if has_multi_links():
        return ok("probe links", "many probes in one")
    slow = "Before Linux 6.6 probes are attached and released one by one: the end of a malloc run takes 3 s."
    return warning("probe links", slow, "boot Linux 6.6 or newer")


def perf_events() -> Check:
    if _PERF_EVENTS.exists():
        return ok("perf events", "there")
    missing = "This kernel has no perf events (CONFIG_PERF_EVENTS)."
    return failure("perf events", missing, "boot a kernel with CONFIG_PERF_EVENTS")


def stack_depth() -> Check:
    return stack_depth_of(int(_MAX_STACK.read_text()) if _MAX_STACK.exists() else MAX_FRAMES)


def stack_depth_of(frames: int) -> Check:
    """Of the sysctl kernel.perf_event_max_stack."""
    if frames >= MAX_FRAMES:
        return ok("stack depth", f"{MAX_FRAMES} frames")
    cut = f"The kernel walks {frames} frames of a stack; deeper ones lose their root and are marked [truncated]."
    return warning("stack depth", cut, f"sysctl -w kernel.perf_event_max_stack={MAX_FRAMES}")


def unwinder() -> Check:
    try:
        ctypes.CDLL(LIBDW)
    except OSError:
        return failure("unwinder", f"{LIBDW} is missing: install the package libdw1.", "apt-get install libdw1")
    return ok("unwinder", LIBDW)


def perf() -> Check:
    obstacle = perf_obstacle()
    if not obstacle:
        return ok("perf", "there")
    return warning("perf", f"{obstacle} Only hosts without bcc need it.", "apt-get install linux-perf")


HOST_CHECKS: tuple[Callable[[], Check], ...] = (
    machine, user, kernel, capabilities, process_numbers, lockdown, bcc, bcc_bugs, packages, loading,
    compiler_of_programs, type_information, tracefs, uprobes, probe_links, perf_events, stack_depth, unwinder, perf,
)  # fmt: skip

# A failure of these keeps any collector from running.
_EVERY_COLLECTOR = (
    "machine", "user", "kernel", "capabilities", "process numbers", "lockdown", "bcc", "packages", "loading",
)  # fmt: skip
_OWN_NEEDS: Mapping[str, tuple[str, ...]] = {
    "malloc": ("uprobes",),
    "brk": ("tracefs", "type information", "unwinder"),
    "mmap": ("tracefs", "unwinder"),
    "page_faults": ("perf events", "unwinder"),
}
_EVERY_BY_PERF = ("machine", "user", "process numbers", "packages", "perf events", "perf")
_OWN_NEEDS_BY_PERF: Mapping[str, tuple[str, ...]] = {
    "malloc": ("tracefs", "uprobes"),
    "brk": ("tracefs",),
    "mmap": ("tracefs",),
    "page_faults": (),
}
_EVERY_PULLED = ("packages",)  # what comes is named by its binaries; nothing is traced


@cache
def host_checks() -> tuple[Check, ...]:
    """All of them. Asked once a process."""
    return tuple(check() for check in HOST_CHECKS)


def needs_of(collector: str) -> list[Check]:
    """Those of which none may fail."""
    if collector in PULLED:
        return _checks(_EVERY_PULLED)
    return _checks((*_EVERY_COLLECTOR, *_OWN_NEEDS[collector]))


def needs_by_perf(collector: str) -> list[Check]:
    """Those of which none may fail when perf is the source."""
    return _checks((*_EVERY_BY_PERF, *_OWN_NEEDS_BY_PERF[collector]))


def _checks(names: tuple[str, ...]) -> list[Check]:
    return [check for check in host_checks() if check.name in names]


def bcc_version() -> str:
    """Debian's package has no metadata that Python can read: the version stands in a file of its own."""
    spec = importlib.util.find_spec("bcc")
    if spec is None or spec.origin is None:
        return ""
    # Not imported: that would load LLVM only to read a number.
    for line in Path(spec.origin).with_name("version.py").read_text().splitlines():
        if line.startswith("__version__"):
            return line.partition("=")[2].strip(" '\"")
    return "installed"
