"""Page faults, minor and major, by stack."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from tracer.bpf.program import HERE, KernelIds, Program
from tracer.collectors.collector import Probe
from tracer.collectors.options import option
from tracer.collectors.stacks import MAX_FRAMES, CapturedStack, KernelStacks, RawStack, call_sites
from tracer.process.address_space import AddressSpace
from tracer.process.target import Target
from tracer.process.unwinder import Unwinder
from tracer.protocol import RunSpec

COUNTERS = ("events", "failed_stack", "stack_map_full")
_SOURCES = (HERE / "target.h", HERE / "stacks.h", Path(__file__).with_suffix(".c"))
_MINOR, _MAJOR = 5, 6  # PERF_COUNT_SW_PAGE_FAULTS_MIN, …_MAJ


class PageFaultCollector:
    def __init__(self, spec: RunSpec, target: Target, space: AddressSpace) -> None:
        defines = {"TARGET_TGID": target.pid, "MAX_FRAMES": MAX_FRAMES, "MAX_STACKS": option(spec, "max_stacks")}
        self._program = Program(_SOURCES, defines=defines, counters=COUNTERS)
        self._stacks = KernelStacks(self._program.map("stacks"), self._at_fault)
        self._unwinder = Unwinder(target.pid, space)
        try:
            self._program.attach_software_event("on_minor_fault", _MINOR)
            self._program.attach_software_event("on_major_fault", _MAJOR)
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        self._program.begin()

    def poll(self, timeout_ms: int) -> None:
        return None

    def counters(self) -> dict[str, int]:
        return self._program.counters()

    def values(self) -> Iterator[tuple[CapturedStack, tuple[int, ...]]]:
        self._unwinder.report()
        for key, sums in self._program.map("totals").entries():
            yield self._stacks[int.from_bytes(key, "little")], struct.unpack("=2Q", sums)

    def probes(self) -> list[Probe]:
        return [Probe("kernel", f"page-faults-{kind}", 0, "perf event") for kind in ("minor", "major")]

    def facts(self) -> dict[str, object]:
        return {}

    def kernel_ids(self) -> KernelIds:
        return self._program.kernel_ids()

    def close(self) -> None:
        self._unwinder.close()
        self._program.close()

    def _at_fault(self, raw: RawStack) -> CapturedStack:
        """The first address is the faulting instruction's; its caller is added where no frame told of it."""
        if not raw.frames:
            return CapturedStack(())
        faulting, *callers = raw.frames
        if raw.top and raw.top not in callers[:1] and self._is_frameless(faulting, raw.top):
            callers.insert(0, raw.top)
        return CapturedStack((faulting, *call_sites(callers)), is_truncated=raw.is_truncated)

    def _is_frameless(self, instruction: int, top: int) -> bool:
        """Whether the unwind tables say that at this instruction the return address is on top of the stack."""
        return self._unwinder.caller(instruction, top) == top


open_collector = PageFaultCollector
