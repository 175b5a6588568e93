"""Allocator calls to bytes and objects, outstanding and allocated, by stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tracer.bpf.program import HERE, KernelIds, ProbeKind, Program, Runs, has_session_links
from tracer.collectors import unwound_stacks
from tracer.collectors.allocator_functions import LEAVES
from tracer.collectors.allocators import CALLED_OFTEN, Site
from tracer.collectors.collector import Probe
from tracer.collectors.late_libraries import LateLibraries
from tracer.collectors.malloc_modes import Mode, mode_of
from tracer.collectors.malloc_probes import AllocatorProbes
from tracer.collectors.options import option
from tracer.collectors.process_allocators import ProcessAllocators
from tracer.collectors.processes import Processes
from tracer.collectors.stacks import MAX_FRAMES, CapturedStack, KernelStacks, RawStack, call_sites, failures
from tracer.collectors.unwound_stacks import UnwoundStacks
from tracer.options.allocators import AllocatorOptions
from tracer.options.blocks import BlockOptions
from tracer.options.modes import EXACT, ModeOptions
from tracer.protocol import RunSpec

COUNTERS = (
    "events", "refused", "abandoned", "failed_stack", "stack_map_full", "allocation_map_full", "call_map_full",
    "unknown_frees",
)  # fmt: skip
IN_LAST_WRAPPER = "is_in_last_wrapper(address)"  # of allocator_calls.h
_CALLOC_CALLS_MALLOC = ("ld-musl", "libc.musl")
_OPERATOR_NEW_FRAMES = 4  # of forms that call each other and keep frame pointers, and one for their caller


class MallocCollector:
    def __init__(self, spec: RunSpec, processes: Processes) -> None:
        self._options = BlockOptions.of(spec.options)
        self._wanted = AllocatorOptions.of(spec.options)
        self._unwinds_a_second = option(spec, "unwinds_a_second")
        self._mode_options = ModeOptions.of(spec.options)
        self._mode = mode_of(self._mode_options, self._options, may_link_sessions=_may_link_sessions(spec))
        self._found = ProcessAllocators(spec, processes)
        is_dwarf, leaves = self._found.unwind.is_dwarf, self._found.leaves
        self._program = Program(
            _sources(self._mode, self._mode_options, is_dwarf=is_dwarf),
            defines=_defines(spec, processes, self._found, self._mode), counters=COUNTERS,
            multi_links=None if option(spec, "multi_links") else False,
        )  # fmt: skip
        self._placed: list[AllocatorProbes] = []
        try:
            processes.watch(self._program)
            for pid, sites in self._found.by_pid().items():
                self._placed.append(AllocatorProbes(self._program, pid, self._mode.functions))
                self._placed[-1].attach(self._mode.probed(sites))
            self._late = LateLibraries(self._program, processes, self._found.followed(self._placed), self._mode.probed)
            self._late.watch()
            self._stacks: KernelStacks | UnwoundStacks = (
                UnwoundStacks(self._program, processes, leaves.__getitem__)
                if is_dwarf
                else KernelStacks(self._program.map("stacks"), partial(stack_at_return, leaves=leaves))
            )
        except BaseException:
            self._program.close()
            raise
        self._callerless = 0  # calls without a stack in the last reading

    def begin(self) -> None:
        self._mode.begin(self._program)

    def poll(self, timeout_ms: int) -> int | None:
        taken = self._stacks.poll(timeout_ms)
        if taken is None and self._late.is_watching:
            taken = len(self._program.records(timeout_ms))
        self._late.follow()
        return taken

    def counters(self) -> dict[str, int]:
        return {**self._program.counters(), "missed": self._program.misses()}

    def values(self) -> Iterator[tuple[CapturedStack, tuple[int, ...]]]:
        self._callerless = 0
        for key, values in self._mode.values(self._program):
            stack = self._stacks[key]
            self._callerless += stack.is_callerless * values[self._mode.count_column]
            yield stack, values

    def probes(self) -> list[Probe]:
        return list(dict.fromkeys(probe for placed in self._placed for probe in placed.probes))

    def facts(self) -> dict[str, object]:
        facts = {**self._found.facts(), **self._mode_options.facts(), **self._mode.facts(self._program)}
        facts["notes"] = [*self._notes(), *self._late.notes, *self._found.notes(self.counters()["events"])]
        if filters := self._options.filters():
            facts["filters"] = filters
        if failed := failures(self._program.map("failures").entries()):
            facts["failed_stacks"] = failed
        if _follows_all_blocks(self._mode_options, self._options):
            facts["unknown_frees"] = self.counters()["unknown_frees"]
        return facts

    def runs(self) -> dict[ProbeKind, Runs]:
        return self._program.runs()

    def release(self) -> None:
        self._late.stop()
        self._program.release()

    def kernel_ids(self) -> KernelIds:
        return self._program.kernel_ids()

    def close(self) -> None:
        self._stacks.close()
        self._program.close()

    def _notes(self) -> Iterator[str]:
        if not self._wanted.has_defaults:
            yield f"Only {', '.join(map(str, self._wanted.custom))} were followed, not malloc and its like."
        if abandoned := self.counters()["abandoned"]:
            yield f"{abandoned:,} allocator calls were left by an exception or a longjmp and are not counted."
        stepped = {probe.symbol for probe in self.probes() if probe.kind == "single-step"}
        if dear := sorted(stepped & CALLED_OFTEN):
            yield f"No cheap place for a probe in {', '.join(dear)}: each call costs about 10 µs more."
        if self._callerless:
            yield (
                f"{self._callerless:,} allocations stand under [caller not unwound]: new stacks came faster than the "
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
    return CapturedStack(call_sites(frames), leaves[raw.function], is_truncated=raw.is_truncated, image=raw.image)


def _sources(mode: Mode, options: ModeOptions, *, is_dwarf: bool) -> tuple[Path, ...]:
    unwinding = unwound_stacks.SOURCES if is_dwarf else ()
    names = ("allocator_arguments.h", *(["sampling.h"] if options.is_sampled else []), "allocator_calls.h", mode.source)
    own = (Path(__file__).with_name(name) for name in names)
    first = (HERE / name for name in ("target.h", "images.h", "loads.h", "stacks.h", "frame_walk.h"))
    return (*first, *unwinding, *own)


def _follows_all_blocks(mode: ModeOptions, blocks: BlockOptions) -> bool:
    """Else a free of a block that is not ours tells nothing, and must not cost the count."""
    return mode.mode == EXACT and blocks.wants_all_sizes


def _defines(
    spec: RunSpec, processes: Processes, found: ProcessAllocators, mode: Mode
) -> dict[str, int | str]:  # fmt: skip
    probed = mode.probed(found.sites)
    wrappers = mode.wrappers(probed)
    is_dwarf = found.unwind.is_dwarf
    return {
        **processes.defines(),
        "HAS_OPERATOR_NEW": int(any(site.allocator and site.allocator.is_new for site in wrappers)),
        "IN_WRAPPER(address)": _is_in([site.span for site in wrappers]) if processes.is_single else IN_LAST_WRAPPER,
        "IN_ALLOCATOR(address)": _is_in([site.span for site in probed if site not in wrappers]),
        "LAST_POSITION": AllocatorOptions.of(spec.options).last_position,
        "FREED_BLOCK(context)": _freed_block(probed),
        "IS_WANTED(bytes)": _is_wanted(BlockOptions.of(spec.options)),
        "KNOWS_ALL_BLOCKS": int(_follows_all_blocks(ModeOptions.of(spec.options), BlockOptions.of(spec.options))),
        "MAX_FRAMES": MAX_FRAMES,
        "MAX_STACKS": option(spec, "max_stacks"),
        "MAX_KEYS": unwound_stacks.max_keys(spec) if is_dwarf else option(spec, "max_stacks"),
        "MAX_BLOCKS": option(spec, "max_blocks"),
        "MAX_CALLS": option(spec, "max_calls"),
        "UNWINDS": int(is_dwarf),
        **_sampling(ModeOptions.of(spec.options), probed),
        "LINKS_SESSIONS": int(_may_link_sessions(spec)),
        **(unwound_stacks.defines(spec) if is_dwarf else {}),
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
    different = dict.fromkeys(spans)  # forked processes have the same
    tests = [f"(u64)(address)-{span.start:#x}ULL<{len(span):#x}ULL" for span in different]
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
