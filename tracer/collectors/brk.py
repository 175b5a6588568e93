"""brk() calls to the bytes by which each stack moved the end of the heap.

brk(0), by which a program asks where the end is, is a call that moves nothing. A call has failed if it asked for an
end and did not get that one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tracer.bpf.btf import Btf
from tracer.bpf.program import HERE, KernelIds, ProbeKind, Program, Runs
from tracer.collectors.collector import Probe
from tracer.collectors.processes import Processes
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


class BrkCollector:
    def __init__(self, spec: RunSpec, processes: Processes) -> None:
        kernel = Btf.of_kernel()
        offsets = {"TASK_MM": kernel.offset("task_struct", "mm"), "MM_BRK": kernel.offset("mm_struct", "brk")}
        self._program = Program(_SOURCES, defines={**defines(spec, processes), **offsets}, counters=COUNTERS)
        processes.watch(self._program)
        self._program.open_ring("events")
        self._reader = SystemCallReader(processes)
        self._heaps: defaultdict[int, HeapEnd] = defaultdict(HeapEnd)  # by image
        self._values: dict[CapturedStack, list[int]] = {}

    def begin(self) -> None:
        self._program.begin()

    def poll(self, timeout_ms: int) -> int:
        records = self._program.records(timeout_ms)
        for record in records:
            self._add(self._reader.read(record))
        return len(records)

    def counters(self) -> dict[str, int]:
        return self._program.counters()

    def values(self) -> Iterator[tuple[CapturedStack, tuple[int, ...]]]:
        for stack, values in self._values.items():
            yield stack, tuple(values)

    def probes(self) -> list[Probe]:
        return [Probe("kernel", "syscalls:sys_enter_brk", 0, "tracepoint")]

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

    def _add(self, call: SystemCall) -> None:
        requested = call.arguments[0]
        values = self._values.setdefault(call.stack, [0, 0, 0])
        values[0] += self._heaps[call.image].moved(before=call.previous, after=call.result)
        values[1] += 1
        values[2] += requested not in (0, call.result)


class HeapEnd:
    """Where the heap ends, from one call to the next.

    A call's own "before" is only used for the first: two threads may read the same one and then both count the first
    thread's bytes.
    """

    def __init__(self) -> None:
        self._end: int | None = None

    def moved(self, *, before: int, after: int) -> int:
        previous = before if self._end is None else self._end
        self._end = after
        return after - previous


open_collector = BrkCollector
