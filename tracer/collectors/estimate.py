"""Counts of some seconds to what each way to record would cost: events a second times the price of each.

What a probe hit costs is measured on the machine; what the collectors do behind it is known from benchmarks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tracer.bpf.trap_cost import TrapCosts
from tracer.collectors.counting import MAX_CALLERS, Counts, FunctionCalls
from tracer.collectors.options import OPTIONS
from tracer.collectors.rates import rates_of
from tracer.prices import BUDGET_SHARE, METHODS, MOST_SLOWDOWN, Estimate, Method, Price

SAMPLE_BYTES = 524_288

# Nanoseconds behind the traps: what is left of a benchmark of malloc and free when the traps' price is taken off, with
# stacks of some ten frames, and the figures of docs/collectors.md for the other collectors.
EXACT_ALLOCATION_NS, EXACT_FREE_NS = 2_000, 600
UNSAMPLED_ALLOCATION_NS, SAMPLED_FREE_NS = 100, 150
CALL_NS = 1_000
WRAPPER_NS = 300
BRK_NS, MMAP_NS, MUNMAP_NS, FAULT_NS = 2_000, 2_000, 1_000, 2_000
COUNTED_NS = 150  # of the counting itself
UNWINDING_NS = 100_000  # of memflame's own time, for each stack that is copied
_LEAST_WORK = 0.01  # of the processor time while it was counted: malloc and free alone take 20 ns, with two traps 2 µs

# Locked memory for each entry that an option gives room for: key, value, and what the kernel adds.
_MAP_BYTES: Mapping[str, Mapping[str, int]] = {
    "malloc": {"max_stacks": 1224, "max_blocks": 96, "max_calls": 296},
    "mmap": {"ring_pages": 4115, "max_calls": 144},
    "brk": {"ring_pages": 4115, "max_calls": 144},
    "page_faults": {"ring_pages": 4115, "max_stacks": 1560},
}


def estimate_of(counts: Counts, traps: TrapCosts, obstacles: Mapping[str, str]) -> Estimate:
    """Prices of all that can be recorded; `obstacles` are the collectors that can't run here, with the reason."""
    methods = [method for method in METHODS if method.collector not in obstacles]
    if not _has_allocator(counts):
        methods = [method for method in methods if method.collector != "malloc"]
    prices = [price_of(method, counts, traps) for method in methods]
    a_second = {name: rate or 0.0 for name, rate in rates_of(counts).a_second.items()}
    notes = (*(f"{name}: {why}" for name, why in obstacles.items()), *_notes(counts, traps))
    return Estimate(counts.seconds, a_second, counts.callers, tuple(_with_recommended(prices)), notes)


def price_of(method: Method, counts: Counts, traps: TrapCosts) -> Price:
    cost_s = _COSTS_NS[method.collector, method.mode](counts, traps) / 1e9
    return Price(
        method.collector,
        method.mode,
        share=cost_s / counts.seconds,
        slowdown=_slowdown(cost_s, counts, traps),
        own_share=_own_s(method.collector, counts) / counts.seconds,
        map_bytes=map_bytes(method.collector),
    )


def map_bytes(collector: str) -> int:
    """Locked memory of a recording with default sizes."""
    return sum(bytes_each * OPTIONS[name].default for name, bytes_each in _MAP_BYTES[collector].items())


def _slowdown(cost_s: float, counts: Counts, traps: TrapCosts) -> float | None:
    """By how much the program's work gets longer."""
    own_s = _own_work_s(counts, traps)
    if own_s <= 0:
        return None
    return min(cost_s / own_s, MOST_SLOWDOWN)


def _own_work_s(counts: Counts, traps: TrapCosts) -> float:
    """The program's processor time without what the counting took of it."""
    counting_ns = sum(known.calls * (_trap_ns(known, traps) + COUNTED_NS) for known in counts.functions)
    left_s = counts.cpu_seconds - counting_ns / 1e9
    # A difference of two large numbers: of what a program does that hardly does more than allocate, little is known.
    return left_s if left_s > counting_ns / 2e9 else counts.cpu_seconds * _LEAST_WORK


def _exact_ns(counts: Counts, traps: TrapCosts) -> float:
    behind = {"allocates": EXACT_ALLOCATION_NS, "wraps": WRAPPER_NS, "frees": EXACT_FREE_NS}
    return sum(
        known.calls * (_trap_ns(known, traps) + _return_ns(known, traps) + behind[known.role])
        for known in counts.functions
    )


def _sampled_ns(counts: Counts, traps: TrapCosts) -> float:
    behind = {"allocates": UNSAMPLED_ALLOCATION_NS, "wraps": WRAPPER_NS, "frees": SAMPLED_FREE_NS}
    hits_ns = sum(known.calls * (_trap_ns(known, traps) + behind[known.role]) for known in counts.functions)
    samples = min(counts.allocations, counts.requested_bytes / SAMPLE_BYTES)
    return hits_ns + samples * (traps.return_ns + EXACT_ALLOCATION_NS)


def _calls_ns(counts: Counts, traps: TrapCosts) -> float:
    behind = {"allocates": CALL_NS, "wraps": WRAPPER_NS}
    probed = [known for known in counts.functions if known.role in behind]
    return sum(known.calls * (_trap_ns(known, traps) + behind[known.role]) for known in probed)


_COSTS_NS: Mapping[tuple[str, str], Callable[[Counts, TrapCosts], float]] = {
    ("malloc", "exact"): _exact_ns,
    ("malloc", "sampled"): _sampled_ns,
    ("malloc", "calls"): _calls_ns,
    ("mmap", ""): lambda counts, _: counts.mmap_calls * MMAP_NS + counts.munmap_calls * MUNMAP_NS,
    ("brk", ""): lambda counts, _: counts.brk_calls * BRK_NS,
    ("page_faults", ""): lambda counts, _: _faults(counts) * FAULT_NS,
}


def _own_s(collector: str, counts: Counts) -> float:
    """What memflame's own process does for it: unwinding copied stacks."""
    unwinds_of_faults = min(_faults(counts), OPTIONS["unwinds_a_second"].default * counts.seconds)
    copied = {"mmap": counts.mmap_calls, "brk": counts.brk_calls, "page_faults": unwinds_of_faults}
    return copied.get(collector, 0) * UNWINDING_NS / 1e9


def _faults(counts: Counts) -> int:
    return counts.minor_faults + counts.major_faults


def _trap_ns(known: FunctionCalls, traps: TrapCosts) -> float:
    return traps.emulated_ns if known.kind == "emulated" else traps.stepped_ns


def _return_ns(known: FunctionCalls, traps: TrapCosts) -> float:
    if known.role != "allocates":
        return 0
    return traps.stepped_ns if known.has_ret_probes else traps.return_ns


def _with_recommended(prices: Sequence[Price]) -> Iterator[Price]:
    """The first that fits the budget: they come with what tells most about growth first."""
    chosen = next((price for price in prices if price.share <= BUDGET_SHARE), None)
    for price in prices:
        yield replace(price, is_recommended=price is chosen)


def _has_allocator(counts: Counts) -> bool:
    return any(known.role == "allocates" for known in counts.functions)


def _notes(counts: Counts, traps: TrapCosts) -> Iterator[str]:
    if not _has_allocator(counts):
        yield "malloc: no allocator function was found in this process; it may be linked statically and stripped."
    if counts.callers >= MAX_CALLERS:
        yield f"More than {MAX_CALLERS:,} places allocate; more were not counted."
    dear = sorted({known.symbol for known in counts.functions if known.kind == "single-step" and known.calls})
    if dear:
        stepped_us = traps.stepped_ns / 1000
        yield f"No cheap place for a probe in {', '.join(dear)}: the trap of each call takes {stepped_us:.1f} µs."
    if not traps.is_measured:
        yield "The price of a trap could not be measured on this machine; it is that of another one."
