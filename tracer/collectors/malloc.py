"""Allocator calls to bytes and objects, outstanding and allocated, by stack."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path

from tracer.block_options import MAX_BYTES, BlockOptions
from tracer.bpf.program import HERE, KernelIds, Program
from tracer.collectors.ages import Live, live_by_stack
from tracer.collectors.allocators import CALLED_OFTEN, LEAVES, Site, sites, without_probe_path
from tracer.collectors.collector import Probe
from tracer.collectors.errors import CollectorError
from tracer.collectors.malloc_probes import AllocatorProbes
from tracer.collectors.options import option
from tracer.collectors.stacks import MAX_FRAMES, CapturedStack, KernelStacks, RawStack, call_sites
from tracer.process.address_space import AddressSpace
from tracer.process.target import Target
from tracer.protocol import RunSpec

COUNTERS = (
    "events", "refused", "abandoned", "failed_stack", "stack_map_full", "allocation_map_full", "call_map_full",
)  # fmt: skip
_OPERATOR_NEW_FRAMES = 4  # of forms that call each other and keep frame pointers, and one for their caller
_SOURCES = (HERE / "target.h", HERE / "stacks.h", Path(__file__).with_suffix(".c"))


class MallocCollector:
    def __init__(self, spec: RunSpec, target: Target, space: AddressSpace) -> None:
        self._pid = target.pid
        self._options = BlockOptions.of(spec.options)
        self._nothing_live = Live(0, 0, (0,) * len(self._options.band_names))
        found = list(sites(space))
        if not any(site.allocator for site in found):
            raise CollectorError(
                f"no allocator function was found in process {target.pid} ({target.command}): "
                "its program may be linked statically and stripped of symbols"
            )
        self._program = Program(
            _SOURCES, defines=_defines(spec, target.pid, found), counters=COUNTERS,
            multi_links=None if option(spec, "multi_links") else False,
        )  # fmt: skip
        self._placed = AllocatorProbes(self._program, target.pid)
        try:
            self._placed.attach(found)
        except BaseException:
            self._program.close()
            raise
        self._stacks = KernelStacks(self._program.map("stacks"), stack_at_return)
        self._allocator = _used_allocator(found)
        self._unreachable = without_probe_path(space)

    def begin(self) -> None:
        self._program.begin()

    def poll(self, timeout_ms: int) -> None:
        return None

    def counters(self) -> dict[str, int]:
        return self._program.counters()

    def values(self) -> Iterator[tuple[CapturedStack, tuple[int, ...]]]:
        # Blocks first: those of a reading are then among what has been allocated by the time the totals are read.
        live = self._live_by_stack() if self._options.needs_ages else None
        for raw_key, sums in self._program.map("totals").entries():
            allocated_bytes, allocated, freed_bytes, freed = struct.unpack("=4Q", sums)
            key = int.from_bytes(raw_key, "little")
            if live is None:
                outstanding = Live(allocated_bytes - freed_bytes, allocated - freed)
            else:
                outstanding = live.get(key, self._nothing_live)
            flows = allocated_bytes, allocated
            yield self._stacks[key], (outstanding.bytes, outstanding.objects, *flows, *outstanding.bytes_by_band)

    def _live_by_stack(self) -> dict[int, Live]:
        now_ns = time.monotonic_ns()
        return live_by_stack(self._program.map("blocks").values(), self._options, now_ns)

    def probes(self) -> list[Probe]:
        return self._placed.probes

    def facts(self) -> dict[str, object]:
        filters = self._options.filters()
        return {"allocator": self._allocator, "notes": [*self._notes()], **({"filters": filters} if filters else {})}

    def kernel_ids(self) -> KernelIds:
        return self._program.kernel_ids()

    def close(self) -> None:
        self._program.close()

    def _notes(self) -> Iterator[str]:
        if abandoned := self.counters()["abandoned"]:
            yield f"{abandoned:,} allocator calls were left by an exception or a longjmp and are not counted."
        stepped = {probe.symbol for probe in self._placed.probes if probe.kind == "single-step"}
        if dear := sorted(stepped & CALLED_OFTEN):
            yield f"No cheap place for a probe in {', '.join(dear)}: each call costs about 10 µs more."
        if self._unreachable:
            yield f"Deleted or replaced since they were mapped, so not probed: {', '.join(self._unreachable)}."


def stack_at_return(raw: RawStack) -> CapturedStack:
    """The allocator has just returned, so even the first address is one that a call returns to.

    What malloc returns to may be operator new: then `top` is what called that one, and frames before it are its own.
    """
    frames = raw.frames
    if raw.top:
        inner = frames[:_OPERATOR_NEW_FRAMES]
        frames = (raw.top, *frames[(inner.index(raw.top) if raw.top in inner else 0) + 1 :])
    return CapturedStack(call_sites(frames), LEAVES[raw.function], is_truncated=raw.is_truncated)


def _defines(spec: RunSpec, pid: int, found: list[Site]) -> dict[str, int | str]:
    wrappers = [site for site in found if site.is_wrapper]
    return {
        "TARGET_TGID": pid,
        "HAS_OPERATOR_NEW": int(any(site.allocator and site.allocator.is_new for site in wrappers)),
        "IN_WRAPPER(address)": _is_in([site.span for site in wrappers]),
        "IS_WANTED(bytes)": _is_wanted(BlockOptions.of(spec.options)),
        "MAX_FRAMES": MAX_FRAMES,
        "MAX_STACKS": option(spec, "max_stacks"),
        "MAX_BLOCKS": option(spec, "max_blocks"),
        "MAX_CALLS": option(spec, "max_calls"),
    }


def _is_in(spans: list[range]) -> str:
    """A C expression over `address`: the addresses are known before the program is compiled."""
    tests = [f"(u64)(address)-{span.start:#x}ULL<{len(span):#x}ULL" for span in spans]
    return "(" + ("||".join(tests) or "0") + ")"


def _is_wanted(options: BlockOptions) -> str:
    """A C expression over `bytes`; of sizes that are not bounded it costs nothing."""
    if options.min_bytes == 0 and options.max_bytes == MAX_BYTES:
        return "1"
    return f"((u64)(bytes)-{options.min_bytes}ULL<={options.max_bytes - options.min_bytes}ULL)"


def _used_allocator(found: list[Site]) -> str:
    """The module whose malloc the program calls: its own, else a preloaded one, else the C library's."""
    modules = [site.module for site in found if site.symbol == "malloc"]
    return next((module for module in modules if not module.startswith("libc.")), modules[0] if modules else "")


open_collector = MallocCollector
