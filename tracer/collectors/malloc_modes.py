"""Modes of the malloc collector to what differs between them: what is probed, how it counts, what is read back."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tracer.bpf.program import Program
from tracer.collectors.ages import Live, live_by_stack
from tracer.collectors.allocators import Site
from tracer.collectors.malloc_probes import Functions
from tracer.collectors.sampling import begin_sampling, counted
from tracer.options.blocks import BlockOptions
from tracer.options.modes import DEFAULT_SAMPLE_BYTES, ModeOptions

_BLOCK_FUNCTIONS: Functions = {
    "on_return": lambda site: site.has_return_probe,
    "on_enter": lambda site: site.allocator is not None and not site.is_wrapper,
    "on_enter_wrapper": lambda site: site.is_wrapper,
    "on_free": lambda site: site.allocator is None,
}
_CALL_FUNCTIONS: Functions = {
    "on_enter": lambda site: site.allocator is not None and not site.allocator.is_copy,
    "on_enter_wrapper": lambda site: site.allocator is not None and site.allocator.is_copy,
}


class Mode(Protocol):
    """One way to count."""

    @property
    def source(self) -> str:
        """The C file beside this one."""
        ...

    @property
    def count_column(self) -> int:
        """Of the value type that has a number of allocations."""
        ...

    @property
    def functions(self) -> Functions: ...

    def probed(self, found: Sequence[Site]) -> list[Site]:
        """Those of the functions found that get a probe."""
        ...

    def wrappers(self, found: Sequence[Site]) -> list[Site]:
        """Functions whose calls are told by who asks for memory inside of them."""
        ...

    def begin(self, program: Program) -> None:
        """Write what the program has to know before it counts."""
        ...

    def facts(self, program: Program) -> dict[str, object]:
        """Further keys of the capture."""
        ...

    def values(self, program: Program) -> Iterator[tuple[int, tuple[int, ...]]]:
        """By the key of a stack, in the order of the value types."""
        ...


@dataclass(frozen=True, slots=True)
class Exact:
    options: BlockOptions
    source: str = "malloc.c"
    count_column: int = 3

    @property
    def functions(self) -> Functions:
        return _BLOCK_FUNCTIONS

    def probed(self, found: Sequence[Site]) -> list[Site]:
        return list(found)

    def wrappers(self, found: Sequence[Site]) -> list[Site]:
        return [site for site in found if site.is_wrapper]

    def begin(self, program: Program) -> None:
        program.begin()

    def facts(self, program: Program) -> dict[str, object]:
        return {}

    def values(self, program: Program) -> Iterator[tuple[int, tuple[int, ...]]]:
        # Blocks first: those of a reading are then among what has been allocated by the time the totals are read.
        live = self._live_by_stack(program) if self.options.needs_ages else None
        nothing = Live(0, 0, (0,) * len(self.options.band_names))
        for raw_key, sums in program.map("totals").entries():
            allocated_bytes, allocated, freed_bytes, freed = struct.unpack("=4Q", sums)
            key = int.from_bytes(raw_key, "little")
            if live is None:
                outstanding = Live(allocated_bytes - freed_bytes, allocated - freed)
            else:
                outstanding = live.get(key, nothing)
            flows = allocated_bytes, allocated
            yield key, (outstanding.bytes, outstanding.objects, *flows, *outstanding.bytes_by_band)

    def _live_by_stack(self, program: Program) -> Mapping[int, Live]:
        now_ns = time.monotonic_ns()
        return live_by_stack(program.map("blocks").values(), self.options, now_ns)


@dataclass(frozen=True, slots=True)
class Sampled(Exact):
    sample_bytes: int = DEFAULT_SAMPLE_BYTES
    is_session: bool = False  # one link for entries and returns

    @property
    def functions(self) -> Functions:
        if not self.is_session:
            return _BLOCK_FUNCTIONS
        apart = {name: wanted for name, wanted in _BLOCK_FUNCTIONS.items() if name != "on_return"}
        return {
            **apart,
            "on_call": lambda site: site.has_return_probe,
            "on_enter": lambda site: site.allocator is not None and not site.is_wrapper and not site.has_return_probe,
        }

    def begin(self, program: Program) -> None:
        begin_sampling(program, self.sample_bytes)
        program.begin()

    def facts(self, program: Program) -> dict[str, object]:
        return {"counted": counted(program)}


@dataclass(frozen=True, slots=True)
class Calls:
    source: str = "malloc_calls.c"
    count_column: int = 1

    @property
    def functions(self) -> Functions:
        return _CALL_FUNCTIONS

    def probed(self, found: Sequence[Site]) -> list[Site]:
        """At their entry only, and no free. asprintf does not say how much it will ask for."""
        sized = (site for site in found if site.allocator and (site.allocator.size or site.allocator.is_copy))
        return [replace(site, rets=()) for site in sized]

    def wrappers(self, found: Sequence[Site]) -> list[Site]:
        return [site for site in found if site.allocator and site.allocator.is_copy]

    def begin(self, program: Program) -> None:
        program.begin()

    def facts(self, program: Program) -> dict[str, object]:
        return {}

    def values(self, program: Program) -> Iterator[tuple[int, tuple[int, ...]]]:
        for raw_key, sums in program.map("totals").entries():
            yield int.from_bytes(raw_key, "little"), struct.unpack("=2Q", sums)


def mode_of(mode: ModeOptions, blocks: BlockOptions, *, may_link_sessions: bool) -> Mode:
    if mode.is_calls:
        return Calls()
    if mode.is_sampled:
        return Sampled(blocks, sample_bytes=mode.sample_bytes, is_session=may_link_sessions)
    return Exact(blocks)
