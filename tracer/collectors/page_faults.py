"""Page faults, minor and major, by stack."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from tracer.bpf.program import HERE, KernelIds, ProbeKind, Program, Runs
from tracer.collectors.collector import Probe
from tracer.collectors.copied_stacks import REGISTERS, STACK_BYTES, CopiesByImage
from tracer.collectors.images import image_and_address
from tracer.collectors.judged_walks import JudgedWalks
from tracer.collectors.options import option
from tracer.collectors.processes import Processes
from tracer.collectors.stacks import MAX_FRAMES, NO_IMAGE, CapturedStack, StackMap
from tracer.protocol import RunSpec

COUNTERS = ("events", "failed_stack", "stack_map_full")
_HEADERS = ("target.h", "images.h", "stacks.h", "frame_walk.h", "copied_stack.h", "judged_walk.h")
_SOURCES = (*(HERE / header for header in _HEADERS), Path(__file__).with_suffix(".c"))
_MINOR, _MAJOR = 5, 6  # PERF_COUNT_SW_PAGE_FAULTS_MIN, …_MAJ
_HEAD = struct.Struct("=QHHI")


class PageFaultCollector:
    def __init__(self, spec: RunSpec, processes: Processes) -> None:
        self._budget = option(spec, "unwinds_a_second")
        self._program = Program(_SOURCES, defines=_defines(spec, processes), counters=COUNTERS)
        self._walks = StackMap(self._program.map("stacks"))
        self._copies = CopiesByImage(processes)
        self._judged = JudgedWalks(self._program, self._copies)
        self._unwound: dict[CapturedStack, list[int]] = {}
        try:
            processes.watch(self._program)
            self._program.open_ring("events")
            self._program.attach_software_event("on_minor_fault", _MINOR)
            self._program.attach_software_event("on_major_fault", _MAJOR)
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        self._program.begin()

    def poll(self, timeout_ms: int) -> int:
        records = self._program.records(timeout_ms)
        for record in self._new_walks_first(records):
            self._add(record)
        return len(records)

    def counters(self) -> dict[str, int]:
        # A walk that failed or has no room loses nothing: its faults are unwound, or counted by their instruction.
        return {"events": self._program.counters()["events"]}

    def values(self) -> Iterator[tuple[CapturedStack, tuple[int, ...]]]:
        for stack, counts in self._unwound.items():
            yield stack, tuple(counts)
        for key, sums in self._program.map("totals").entries():
            yield self._stack_of(int.from_bytes(key, "little")), struct.unpack("=2Q", sums)
        for key, sums in self._program.map("callerless").entries():
            yield _callerless(*image_and_address(int.from_bytes(key, "little"))), struct.unpack("=2Q", sums)
        for _, sums in self._program.map("placeless").entries():
            yield _callerless(NO_IMAGE), struct.unpack("=2Q", sums)

    def probes(self) -> list[Probe]:
        return [Probe("kernel", f"page-faults-{kind}", 0, "perf event") for kind in ("minor", "major")]

    def facts(self) -> dict[str, object]:
        callerless = sum(sum(counts) for stack, counts in self.values() if stack.is_callerless)
        if not callerless:
            return {}
        return {
            "notes": [
                f"{callerless:,} faults stand under [caller not unwound]: they came faster than the "
                f"{self._budget:,} a second that are unwound."
            ]
        }

    def runs(self) -> dict[ProbeKind, Runs]:
        return self._program.runs()

    def release(self) -> None:
        self._program.release()

    def kernel_ids(self) -> KernelIds:
        return self._program.kernel_ids()

    def close(self) -> None:
        self._copies.close()
        self._program.close()

    def _new_walks_first(self, records: list[bytes]) -> list[bytes]:
        """The sooner a walk is judged, the fewer faults are counted without a caller meanwhile."""
        first: dict[int, bytes] = {}
        rest: list[bytes] = []
        for record in records:
            walk = _HEAD.unpack_from(record)[0]
            if self._judged.is_judged(walk) or walk in first:
                rest.append(record)
            else:
                first[walk] = record
        return [*first.values(), *rest]

    def _add(self, record: bytes) -> None:
        walk, is_major, stack_bytes, image = _HEAD.unpack_from(record)
        stack = self._judged.right_stack(walk) or self._stack(walk, image, record, stack_bytes)
        self._unwound.setdefault(stack, [0, 0])[is_major] += 1

    def _stack(self, walk: int, image: int, record: bytes, stack_bytes: int) -> CapturedStack:
        registers = REGISTERS.unpack_from(record, _HEAD.size)
        start = _HEAD.size + REGISTERS.size
        copy = record[start : start + stack_bytes]
        stack = self._copies[image].captured(registers, copy)
        if not self._judged.is_judged(walk) and not self._judged.judge(walk, self._walks.lookup(walk), stack):
            self._judged.teach(image, registers, copy)
            if stack.is_broken:
                self._judged.give_up(image, registers)
        return self._judged.right_stack(walk) or stack

    def _stack_of(self, key: int) -> CapturedStack:
        """Of faults that were counted in the kernel, before their walk was judged or because it is right."""
        known = self._judged.right_stack(key)
        if known:
            return known
        walk = self._walks.lookup(key)
        return _callerless(walk.image, *walk.frames[:1]) if walk else _callerless(NO_IMAGE)


def _callerless(image: int, *instruction: int) -> CapturedStack:
    return CapturedStack(instruction, is_callerless=True, image=image)


def _defines(spec: RunSpec, processes: Processes) -> dict[str, int]:
    return {
        **processes.defines(),
        "MAX_FRAMES": MAX_FRAMES,
        "MAX_STACKS": option(spec, "max_stacks"),
        "RING_PAGES": option(spec, "ring_pages"),
        "STACK_BYTES": STACK_BYTES,
        "COPIES_A_SECOND": option(spec, "unwinds_a_second"),
    }


open_collector = PageFaultCollector
