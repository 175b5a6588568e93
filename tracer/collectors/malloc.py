"""Allocator calls to bytes and objects, outstanding and allocated, by stack."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tracer.allocator_options import AllocatorOptions
from tracer.block_options import BlockOptions
from tracer.bpf.program import HERE, KernelIds, ProbeKind, Program, Runs
from tracer.collectors import unwound_stacks
from tracer.collectors.ages import Live, live_by_stack
from tracer.collectors.allocator_functions import LEAVES
from tracer.collectors.allocators import CALLED_OFTEN, Site, SiteFinder
from tracer.collectors.allocators_found import AllocatorsFound
from tracer.collectors.collector import Probe
from tracer.collectors.malloc_probes import AllocatorProbes
from tracer.collectors.options import option
from tracer.collectors.stacks import MAX_FRAMES, CapturedStack, KernelStacks, RawStack, call_sites, failures
from tracer.collectors.unwind_choice import UnwindChoice, chosen_unwind
from tracer.collectors.unwound_stacks import UnwoundStacks
from tracer.process.address_space import AddressSpace
from tracer.process.target import Target
from tracer.protocol import RunSpec

COUNTERS = (
    "events", "refused", "abandoned", "failed_stack", "stack_map_full", "allocation_map_full", "call_map_full",
    "unknown_frees",
)  # fmt: skip
_OPERATOR_NEW_FRAMES = 4  # of forms that call each other and keep frame pointers, and one for their caller


class MallocCollector:
    def __init__(self, spec: RunSpec, target: Target, space: AddressSpace) -> None:
        self._pid = target.pid
        self._options = BlockOptions.of(spec.options)
        self._unwinds_a_second = option(spec, "unwinds_a_second")
        self._nothing_live = Live(0, 0, (0,) * len(self._options.band_names))
        finder = SiteFinder(space, AllocatorOptions.of(spec.options))
        found = finder.new_sites()
        finder.refuse_missing()
        self._found = AllocatorsFound(target, space, found)
        self._found.refuse_unfollowable()
        self._choice = chosen_unwind(spec, space)
        self._program = Program(
            _sources(self._choice), defines=_defines(spec, target.pid, found, self._choice), counters=COUNTERS,
            multi_links=None if option(spec, "multi_links") else False,
        )  # fmt: skip
        self._placed = AllocatorProbes(self._program, target.pid)
        try:
            self._placed.attach(found)
        except BaseException:
            self._program.close()
            raise
        self._stacks: KernelStacks | UnwoundStacks = (
            UnwoundStacks(self._program, target.pid, space, finder.leaves.__getitem__)
            if self._choice.is_dwarf
            else KernelStacks(self._program.map("stacks"), partial(stack_at_return, leaves=finder.leaves))
        )

    def begin(self) -> None:
        self._program.begin()

    def poll(self, timeout_ms: int) -> int | None:
        return self._stacks.poll(timeout_ms)

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
        facts = {**self._found.facts(), **self._choice.facts()}
        facts["notes"] = [*self._notes(), *self._found.notes(self.counters()["events"])]
        if filters := self._options.filters():
            facts["filters"] = filters
        if failed := failures(self._program.map("failures").entries()):
            facts["failed_stacks"] = failed
        if self._options.wants_all_sizes:
            facts["unknown_frees"] = self.counters()["unknown_frees"]
        return facts

    def runs(self) -> dict[ProbeKind, Runs]:
        return self._program.runs()

    def release(self) -> None:
        self._program.release()

    def kernel_ids(self) -> KernelIds:
        return self._program.kernel_ids()

    def close(self) -> None:
        self._stacks.close()
        self._program.close()

    def _notes(self) -> Iterator[str]:
        if abandoned := self.counters()["abandoned"]:
            yield f"{abandoned:,} allocator calls were left by an exception or a longjmp and are not counted."
        stepped = {probe.symbol for probe in self._placed.probes if probe.kind == "single-step"}
        if dear := sorted(stepped & CALLED_OFTEN):
            yield f"No cheap place for a probe in {', '.join(dear)}: each call costs about 10 µs more."
        if callerless := sum(values[3] for stack, values in self.values() if stack.is_callerless):
            yield (
                f"{callerless:,} allocations stand under [caller not unwound]: new stacks came faster than the "
                f"{self._unwinds_a_second:,} a second that are unwound."
            )


def stack_at_return(raw: RawStack, leaves: Sequence[str] = LEAVES) -> CapturedStack:
    """The allocator has just returned, so even the first address is one that a call returns to.

    What malloc returns to may be operator new: then `top` is what called that one, and frames before it are its own.
    """
    frames = raw.frames
    if raw.top:
        inner = frames[:_OPERATOR_NEW_FRAMES]
        frames = (raw.top, *frames[(inner.index(raw.top) if raw.top in inner else 0) + 1 :])
    return CapturedStack(call_sites(frames), leaves[raw.function], is_truncated=raw.is_truncated)


def _sources(choice: UnwindChoice) -> tuple[Path, ...]:
    unwinding = unwound_stacks.SOURCES if choice.is_dwarf else ()
    own = (Path(__file__).with_name(name) for name in ("allocator_calls.h", "malloc.c"))
    return (HERE / "target.h", HERE / "stacks.h", HERE / "frame_walk.h", *unwinding, *own)


def _defines(spec: RunSpec, pid: int, found: list[Site], choice: UnwindChoice) -> dict[str, int | str]:
    wrappers = [site for site in found if site.is_wrapper]
    return {
        "TARGET_TGID": pid,
        "HAS_OPERATOR_NEW": int(any(site.allocator and site.allocator.is_new for site in wrappers)),
        "IN_WRAPPER(address)": _is_in([site.span for site in wrappers]),
        "LAST_POSITION": AllocatorOptions.of(spec.options).last_position,
        "FREED_BLOCK(context)": _freed_block(found),
        "IS_WANTED(bytes)": _is_wanted(BlockOptions.of(spec.options)),
        "KNOWS_ALL_BLOCKS": int(BlockOptions.of(spec.options).wants_all_sizes),
        "MAX_FRAMES": MAX_FRAMES,
        "MAX_STACKS": option(spec, "max_stacks"),
        "MAX_KEYS": unwound_stacks.max_keys(spec) if choice.is_dwarf else option(spec, "max_stacks"),
        "MAX_BLOCKS": option(spec, "max_blocks"),
        "MAX_CALLS": option(spec, "max_calls"),
        "UNWINDS": int(choice.is_dwarf),
        **(unwound_stacks.defines(spec) if choice.is_dwarf else {}),
    }


def _is_in(spans: list[range]) -> str:
    """A C expression over `address`: the addresses are known before the program is compiled."""
    tests = [f"(u64)(address)-{span.start:#x}ULL<{len(span):#x}ULL" for span in spans]
    return "(" + ("||".join(tests) or "0") + ")"


def _freed_block(found: list[Site]) -> str:
    """A C expression over `context`; where all functions get the block in their first argument it costs nothing."""
    if all(site.function.block == 1 for site in found if not site.allocator):
        return "(context)->di"
    return "argument(context,BLOCK_ARGUMENT(bpf_get_attach_cookie(context)))"


def _is_wanted(options: BlockOptions) -> str:
    """A C expression over `bytes`; of sizes that are not bounded it costs nothing."""
    if options.wants_all_sizes:
        return "1"
    return f"((u64)(bytes)-{options.min_bytes}ULL<={options.max_bytes - options.min_bytes}ULL)"


open_collector = MallocCollector
