"""One process to how many allocator calls, system calls for memory and page faults it makes, before anyone traces it.

No stacks and no blocks: each call costs the process one trap and little more, so this is how to find out what recording
would cost. Page faults cost nothing at all, since the kernel counts those of a process anyway.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tracer.bpf.errors import BpfError
from tracer.bpf.maps import processor_sums
from tracer.bpf.program import HERE, KernelIds, Program
from tracer.collectors.allocators import Site, SiteFinder
from tracer.collectors.counting_probes import FunctionCalls, Role, attach
from tracer.collectors.errors import CollectorError
from tracer.options.allocators import AllocatorOptions
from tracer.process.address_space import AddressSpace
from tracer.process.target import Status, Target, TargetError, read_status

MAX_CALLERS = 65_536  # 80 bytes of locked memory each
COUNTERS = ("brk", "mmap", "munmap")
_SOURCES = (
    HERE / "tracepoints.h",
    HERE / "target.h",
    Path(__file__).with_name("allocator_arguments.h"),
    Path(__file__).with_suffix(".c"),
)
LOOK_EVERY_S = 0.1  # whether to stop


@dataclass(frozen=True, slots=True)
class Counts:
    """Events of one process within some seconds."""

    seconds: float
    cpu_seconds: float = 0.0  # of the process, with what the counting took of it
    functions: tuple[FunctionCalls, ...] = ()
    callers: int = 0  # addresses that allocations returned to, since the counting began; MAX_CALLERS at most
    brk_calls: int = 0
    mmap_calls: int = 0  # and mremap
    munmap_calls: int = 0
    minor_faults: int = 0
    major_faults: int = 0

    @property
    def allocations(self) -> int:
        """Calls; those of a function that calls another one, as glibc's reallocarray does realloc, are two."""
        return self.calls_of("allocates")

    @property
    def frees(self) -> int:
        """Calls, those with NULL among them."""
        return self.calls_of("frees")

    @property
    def requested_bytes(self) -> int:
        return sum(known.bytes for known in self.functions if known.role == "allocates")

    def calls_of(self, role: Role) -> int:
        return sum(known.calls for known in self.functions if known.role == role)

    def since(self, earlier: Counts) -> Counts:
        """What came between two readings of one counting."""
        functions = tuple(
            replace(now, calls=now.calls - before.calls, bytes=now.bytes - before.bytes)
            for now, before in zip(self.functions, earlier.functions, strict=True)
        )
        return Counts(
            self.seconds - earlier.seconds,
            self.cpu_seconds - earlier.cpu_seconds,
            functions,
            self.callers,
            self.brk_calls - earlier.brk_calls,
            self.mmap_calls - earlier.mmap_calls,
            self.munmap_calls - earlier.munmap_calls,
            self.minor_faults - earlier.minor_faults,
            self.major_faults - earlier.major_faults,
        )


def count_events(
    pid: int, seconds: float, *, start_time: int = 0, should_stop: Callable[[], bool] = lambda: False
) -> Counts:
    """Count for so long, or until the process exits or `should_stop` says so. Raise CollectorError."""
    with Counting(pid, start_time=start_time) as counting:
        counting.wait(seconds, should_stop)
        return counting.read()


class Counting:
    """Counts from when it is entered until it is left; `read` as often as wanted. Nothing stays attached."""

    def __init__(self, pid: int, *, start_time: int = 0) -> None:
        self.pid, self._start_time = pid, start_time
        self._resources = ExitStack()

    def __enter__(self) -> Counting:
        try:
            self._begin()
        except BaseException as error:
            self._resources.close()
            if isinstance(error, TargetError | BpfError | OSError):
                raise CollectorError(str(error)) from error
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def wait(self, seconds: float, should_stop: Callable[[], bool] = lambda: False) -> bool:
        """False as soon as the process has exited."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not should_stop():
            if self.target.exits_within(min(left, LOOK_EVERY_S)):
                return False
        return not self.target.has_exited()

    def read(self) -> Counts:
        """Since it was entered."""
        return self._reading().since(self._first)

    def kernel_ids(self) -> KernelIds:
        """What the kernel holds for this counting; nothing is left of it afterwards."""
        return self._program.kernel_ids()

    def _begin(self) -> None:
        self.target = Target(self.pid, start_time=self._start_time)
        self._resources.callback(self.target.close)
        self.space = AddressSpace(self.target)
        self._resources.callback(self.space.close)
        found = SiteFinder(self.space, AllocatorOptions()).new_sites()
        self._program = Program(_SOURCES, defines=_defines(self.pid, found), counters=COUNTERS)
        self._resources.callback(self._program.close)
        self._functions = attach(self._program, found, pid=self.pid)
        self._wrappers = [site.span for site in found if site.is_wrapper]
        self._status, self._cpu_seconds = read_status(self.pid), 0.0
        self._program.begin()
        self._first = self._reading()

    def _reading(self) -> Counts:
        calls, status = self._program.counters(), self._last_status()
        return Counts(
            time.monotonic(),
            self._last_cpu_seconds(),
            tuple(self._with_calls(number, known) for number, known in self._functions.items()),
            self._caller_count(),
            calls["brk"],
            calls["mmap"],
            calls["munmap"],
            status.minor_faults,
            status.major_faults,
        )

    def _with_calls(self, number: int, known: FunctionCalls) -> FunctionCalls:
        calls, requested = processor_sums(self._program.map("functions"), struct.pack("=I", number))
        return replace(known, calls=calls, bytes=requested)

    def _caller_count(self) -> int:
        """What calls malloc inside of operator new is no caller: whatever calls that one has its own entry."""
        addresses = (int.from_bytes(key, "little") for key, _ in self._program.map("callers").entries())
        return sum(not any(address in span for span in self._wrappers) for address in addresses)

    def _last_cpu_seconds(self) -> float:
        with suppress(OSError):
            self._cpu_seconds = time.clock_gettime(_cpu_clock(self.pid))
        return self._cpu_seconds

    def _last_status(self) -> Status:
        with suppress(TargetError):  # it has exited: what it had at the last look stays
            self._status = read_status(self.pid)
        return self._status


def _cpu_clock(pid: int) -> int:
    """Of its processor time, as clock_getcpuclockid(3) makes it: CPUCLOCK_SCHED of linux/posix-timers.h."""
    return ~pid << 3 | 2


def _defines(pid: int, found: list[Site]) -> dict[str, int | str]:
    return {"TARGET_TGID": pid, "LAST_POSITION": 3, "FUNCTION_COUNT": max(1, len(found)), "MAX_CALLERS": MAX_CALLERS}
