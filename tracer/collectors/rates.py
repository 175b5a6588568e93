"""Counts of some seconds to events a second, by the names under which `memflame rates` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tracer.collectors.counting import Counts
from tracer.collectors.host_counting import ProcessEvents

COLUMNS = ("malloc", "free", "brk", "mmap", "munmap", "minor", "major")
_OF_ALLOCATORS = ("malloc", "free")


@dataclass(frozen=True, slots=True)
class Rates:
    """Events a second of one process, or of all without a pid; None: not counted."""

    a_second: dict[str, float | None]
    pid: int | None = None
    command: str = ""

    @property
    def total(self) -> float:
        return sum(rate for rate in self.a_second.values() if rate is not None)


def rates_of(counts: Counts) -> Rates:
    return Rates(_a_second(events_of(counts), counts.seconds))


def events_of(counts: Counts) -> tuple[int, ...]:
    return (
        counts.allocations, counts.frees, counts.brk_calls, counts.mmap_calls, counts.munmap_calls,
        counts.minor_faults, counts.major_faults,
    )  # fmt: skip


def host_rates(processes: Sequence[ProcessEvents], seconds: float, *, top: int, counts_allocators: bool) -> list[Rates]:
    """All processes together, then the busiest `top` of them, each with its own."""
    left_out = () if counts_allocators else _OF_ALLOCATORS
    sums = [sum(events) for events in zip(*(known.events for known in processes), strict=True)] or [0] * len(COLUMNS)
    each = (Rates(_a_second(known.events, seconds, left_out), known.pid, known.command) for known in processes)
    busiest = sorted(each, key=lambda rates: rates.total, reverse=True)[:top]
    return [Rates(_a_second(sums, seconds, left_out)), *busiest]


def _a_second(events: Iterable[int], seconds: float, left_out: Sequence[str] = ()) -> dict[str, float | None]:
    return {
        column: None if column in left_out else count / seconds for column, count in zip(COLUMNS, events, strict=True)
    }
