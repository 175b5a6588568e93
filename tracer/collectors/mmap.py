"""mmap(), munmap() and mremap() calls to the bytes mapped, and still mapped, by stack.

An mremap gives back the old range and maps the new one in full under its own stack, as realloc does with a block.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tracer.bpf.program import HERE, KernelIds, ProbeKind, Program, Runs
from tracer.collectors.collector import Probe
from tracer.collectors.processes import Processes
from tracer.collectors.ranges import RangeMap
from tracer.collectors.stacks import CapturedStack
from tracer.collectors.syscall_events import COUNTERS, SystemCall, SystemCallReader, defines
from tracer.protocol import RunSpec

_SOURCES = (
    HERE / "tracepoints.h",
    HERE / "target.h",
    HERE / "images.h",
    HERE / "copied_stack.h",
    HERE / "syscall_events.h",
    Path(__file__).with_suffix(".c"),
)

# Numbers and flags of x86_64: asm/unistd_64.h, asm-generic/mman.h, linux/mman.h.
MMAP, MUNMAP, MREMAP = 9, 11, 25
MAP_HUGETLB, _HUGE_SHIFT, _HUGE_MASK, _DEFAULT_HUGE = 0x40000, 26, 0x3F, 21
MREMAP_DONTUNMAP = 4
_PAGE_BYTES = 4096


class MmapCollector:
    def __init__(self, spec: RunSpec, processes: Processes) -> None:
        self._program = Program(_SOURCES, defines=defines(spec, processes), counters=COUNTERS)
        processes.watch(self._program)
        self._program.open_ring("events")
        self._reader = SystemCallReader(processes)
        self._ledger = MappingLedger()

    def begin(self) -> None:
        self._program.begin()

    def poll(self, timeout_ms: int) -> int:
        records = self._program.records(timeout_ms)
        for record in records:
            self._ledger.add(self._reader.read(record))
        return len(records)

    def counters(self) -> dict[str, int]:
        return self._program.counters()

    def values(self) -> Iterator[tuple[CapturedStack, tuple[int, ...]]]:
        return self._ledger.values()

    def probes(self) -> list[Probe]:
        return [Probe("kernel", f"syscalls:sys_enter_{name}", 0, "tracepoint") for name in ("mmap", "munmap", "mremap")]

    def facts(self) -> dict[str, object]:
        return {}

    def runs(self) -> dict[ProbeKind, Runs]:
        return self._program.runs()

    def release(self) -> None:
        self._program.release()

    def kernel_ids(self) -> KernelIds:
        return self._program.kernel_ids()

    def close(self) -> None:
        self._reader.close()
        self._program.close()


class MappingLedger:
    """Successful calls to outstanding bytes, mapped bytes and calls of each stack."""

    def __init__(self) -> None:
        self._ranges: defaultdict[int, RangeMap[CapturedStack]] = defaultdict(RangeMap)  # by image
        self._mapped_bytes: Counter[CapturedStack] = Counter()
        self._calls: Counter[CapturedStack] = Counter()

    def add(self, call: SystemCall) -> None:
        first, second, third, flags, *_ = call.arguments
        if call.number == MUNMAP:
            self._unmap(first, second, call)
        elif call.number == MMAP:
            self._map(call, mapped_bytes(second, flags))
        elif call.number == MREMAP:
            if not flags & MREMAP_DONTUNMAP:
                self._unmap(first, second, call)
            self._map(call, _whole_pages(third))

    def values(self) -> Iterator[tuple[CapturedStack, tuple[int, ...]]]:
        for stack, calls in self._calls.items():
            yield stack, (self._ranges[stack.image].bytes_by_owner[stack], self._mapped_bytes[stack], calls)

    def _unmap(self, start: int, count: int, call: SystemCall) -> None:
        # The entry's time, not the return's: whoever is given these addresses next gets them after it.
        self._ranges[call.image].unmap(start, start + _whole_pages(count), at_ns=call.entered_ns)

    def _map(self, call: SystemCall, count: int) -> None:
        self._ranges[call.image].map(call.result, call.result + count, at_ns=call.returned_ns, owner=call.stack)
        self._mapped_bytes[call.stack] += count
        self._calls[call.stack] += 1


def mapped_bytes(count: int, flags: int) -> int:
    """Bytes that the kernel maps for a request: whole pages, huge ones if those were asked for."""
    if not flags & MAP_HUGETLB:
        return _whole_pages(count)
    page_bytes = 1 << ((flags >> _HUGE_SHIFT & _HUGE_MASK) or _DEFAULT_HUGE)
    return -(-count // page_bytes) * page_bytes


def _whole_pages(count: int) -> int:
    return -(-count // _PAGE_BYTES) * _PAGE_BYTES


open_collector = MmapCollector
