"""Allocator calls to bytes and objects, outstanding and allocated, by stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tracer.allocator_options import AllocatorOptions
from tracer.block_options import BlockOptions
from tracer.bpf.program import HERE, KernelIds, ProbeKind, Program, Runs, has_session_links
from tracer.collectors import unwound_stacks
from tracer.collectors.allocator_functions import LEAVES
from tracer.collectors.allocators import CALLED_OFTEN, Site, SiteFinder
from tracer.collectors.allocators_found import AllocatorsFound
from tracer.collectors.collector import Probe
from tracer.collectors.malloc_modes import Mode, mode_of
from tracer.collectors.malloc_probes import AllocatorProbes
from tracer.collectors.options import option
from tracer.collectors.stacks import MAX_FRAMES, CapturedStack, KernelStacks, RawStack, call_sites, failures
from tracer.collectors.unwind_choice import UnwindChoice, chosen_unwind
from tracer.collectors.unwound_stacks import UnwoundStacks
from tracer.mode_options import EXACT, ModeOptions
from tracer.process.address_space import AddressSpace
from tracer.process.target import Target
from tracer.protocol import RunSpec

COUNTERS = (
    "events", "refused", "abandoned", "failed_stack", "stack_map_full", "allocation_map_full", "call_map_full",
    "unknown_frees",
)  # fmt: skip
_CALLOC_CALLS_MALLOC = ("ld-musl", "libc.musl")
_OPERATOR_NEW_FRAMES = 4  # of forms that call each other and keep frame pointers, and one for their caller


class MallocCollector:
    def __init__(self, spec: RunSpec, target: Target, space: AddressSpace) -> None:
        self._pid = target.pid
        self._options = BlockOptions.of(spec.options)
        self._unwinds_a_second = option(spec, "unwinds_a_second")
        self._mode_options = ModeOptions.of(spec.options)
        self._mode = mode_of(self._mode_options, self._options, may_link_sessions=_may_link_sessions(spec))
        finder = SiteFinder(space, AllocatorOptions.of(spec.options))
        found = finder.new_sites()
        finder.refuse_missing()
        self._found = AllocatorsFound(target, space, found)
        self._found.refuse_unfollowable()
        self._choice = chosen_unwind(spec, space)
        probed = self._mode.probed(found)
        defines = _defines(spec, target.pid, probed, self._choice, self._mode)
        self._program = Program(
            _sources(self._choice, self._mode, self._mode_options), defines=defines, counters=COUNTERS,
            multi_links=None if option(spec, "multi_links") else False,
        )  # fmt: skip
        self._placed = AllocatorProbes(self._program, target.pid, self._mode.functions)
        try:
            self._placed.attach(probed)
        except BaseException:
            self._program.close()
            raise
        self._stacks: KernelStacks | UnwoundStacks = (
            UnwoundStacks(self._program, target.pid, space, finder.leaves.__getitem__)
            if self._choice.is_dwarf
            else KernelStacks(self._program.map("stacks"), partial(stack_at_return, leaves=finder.leaves))
        )

    def begin(self) -> None:
        self._mode.begin(self._program)

    def poll(self, timeout_ms: int) -> int | None:
        return self._stacks.poll(timeout_ms)

    def counters(self) -> dict[str, int]:
        return {**self._program.counters(), "missed": self._program.misses()}

    def values(self) -> Iterator[tuple[CapturedStack, tuple[int, ...]]]:
        for key, values in self._mode.values(self._program):
            yield self._stacks[key], values

    def probes(self) -> list[Probe]:
        return self._placed.probes

    def facts(self) -> dict[str, object]:
        facts = {
            **self._found.facts(),
            **self._choice.facts(),
            **self._mode_options.facts(),
            **self._mode.facts(self._program),
        }
        facts["notes"] = [*self._notes(), *self._found.notes(self.counters()["events"])]
        if filters := self._options.filters():
            facts["filters"] = filters
        if failed := failures(self._program.map("failures").entries()):
            facts["failed_stacks"] = failed
        if self._follows_all_blocks:
            facts["unknown_frees"] = self.counters()["unknown_frees"]
        return facts

    @property
    def _follows_all_blocks(self) -> bool:
        return self._mode_options.mode == EXACT and self._options.wants_all_sizes

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
        if callerless := sum(values[self._mode.count_column] for stack, values in self.values() if stack.is_callerless):
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


def _sources(choice: UnwindChoice, mode: Mode, options: ModeOptions) -> tuple[Path, ...]:
    unwinding = unwound_stacks.SOURCES if choice.is_dwarf else ()
    names = (*(["sampling.h"] if options.is_sampled else []), "allocator_calls.h", mode.source)
    own = (Path(__file__).with_name(name) for name in names)
    return (HERE / "target.h", HERE / "stacks.h", HERE / "frame_walk.h", *unwinding, *own)


def _defines(
    spec: RunSpec, pid: int, probed: list[Site], choice: UnwindChoice, mode: Mode
) -> dict[str, int | str]:  # fmt: skip
    wrappers = mode.wrappers(probed)
    return {
        "TARGET_TGID": pid,
        "HAS_OPERATOR_NEW": int(any(site.allocator and site.allocator.is_new for site in wrappers)),
        "IN_WRAPPER(address)": _is_in([site.span for site in wrappers]),
        "IN_ALLOCATOR(address)": _is_in([site.span for site in probed if site not in wrappers]),
        "LAST_POSITION": AllocatorOptions.of(spec.options).last_position,
        "FREED_BLOCK(context)": _freed_block(probed),
        "IS_WANTED(bytes)": _is_wanted(BlockOptions.of(spec.options)),
        "KNOWS_ALL_BLOCKS": int(BlockOptions.of(spec.options).wants_all_sizes),
        "MAX_FRAMES": MAX_FRAMES,
        "MAX_STACKS": option(spec, "max_stacks"),
        "MAX_KEYS": unwound_stacks.max_keys(spec) if choice.is_dwarf else option(spec, "max_stacks"),
        "MAX_BLOCKS": option(spec, "max_blocks"),
        "MAX_CALLS": option(spec, "max_calls"),
        "UNWINDS": int(choice.is_dwarf),
        **_sampling(ModeOptions.of(spec.options), probed),
        "LINKS_SESSIONS": int(_may_link_sessions(spec)),
        **(unwound_stacks.defines(spec) if choice.is_dwarf else {}),
    }


def _sampling(mode: ModeOptions, probed: list[Site]) -> dict[str, int | str]:
    calling = any(site.module.startswith(_CALLOC_CALLS_MALLOC) for site in probed)
    return {
        "SAMPLED": int(mode.is_sampled),
        "SAMPLE_BYTES": f"{mode.sample_bytes}ULL",
        "CALLOC_CALLS_NO_OTHER": int(not calling),
    }


def _may_link_sessions(spec: RunSpec) -> bool:
    wanted = option(spec, "multi_links") and option(spec, "session_links")
    return bool(wanted) and has_session_links()


def _is_in(spans: list[range]) -> str:
    """A C expression over `address`: the addresses are known before the program is compiled."""
    tests = [f"(u64)(address)-{span.start:#x}ULL<{len(span):#x}ULL" for span in spans]
    return "(" + ("||".join(tests) or "0") + ")"


def _freed_block(probed: list[Site]) -> str:
    """A C expression over `context`; where all functions get the block in their first argument it costs nothing."""
    if all(site.function.block == 1 for site in probed if not site.allocator):
        return "(context)->di"
    return "argument(context,BLOCK_ARGUMENT(bpf_get_attach_cookie(context)))"


def _is_wanted(options: BlockOptions) -> str:
    """A C expression over `bytes`; of sizes that are not bounded it costs nothing."""
    if options.wants_all_sizes:
        return "1"
    return f"((u64)(bytes)-{options.min_bytes}ULL<={options.max_bytes - options.min_bytes}ULL)"


open_collector = MallocCollector
