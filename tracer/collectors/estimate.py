"""Counts of some seconds to what each way to record would cost: events a second times the price of each.

What a probe hit costs is measured on the machine; what the collectors do behind it is known from benchmarks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tracer.bpf.trap_cost import TrapCosts
from tracer.collectors.counting import MAX_CALLERS, Counts
from tracer.collectors.counting_probes import FunctionCalls, Role
from tracer.collectors.options import OPTIONS
from tracer.collectors.rates import rates_of
from tracer.collectors.unwind_choice import UnwindChoice
from tracer.options.modes import CALLS, DEFAULT_SAMPLE_BYTES, EXACT, SAMPLED
from tracer.prices import BUDGET_SHARE, METHODS, MOST_SLOWDOWN, Estimate, Method, Price

# Nanoseconds behind the traps, with stacks of some ten frames: of malloc as tests/benchmarks/bench_malloc.py and the
# kernel's statistics had them, of the other collectors as in docs/collectors.md.
EXACT_ALLOCATION_NS, EXACT_FREE_NS = 1_300, 300
UNSAMPLED_ALLOCATION_NS, SAMPLED_FREE_NS = 250, 100
CALL_NS = 800
WRAPPER_NS = 200
UNWOUND_NS = 1_500  # on top, for a stack whose code keeps no frame pointers; 6,000 more until its walk is judged
BRK_NS, MMAP_NS, MUNMAP_NS, FAULT_NS = 2_000, 2_000, 1_000, 2_000
COUNTED_NS = 150  # of the counting itself
UNWINDING_NS = 100_000  # of memflame's own time, for each stack that is copied
_LEAST_WORK = 0.01  # of the processor time while it was counted: malloc and free alone take 20 ns, with two traps 2 µs

# Locked memory for each entry that an option gives room for: key, value, and what the kernel adds.
_BLOCK_MAPS = {"max_stacks": 1224, "max_blocks": 104, "max_calls": 328}
_MAP_BYTES: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("malloc", EXACT): _BLOCK_MAPS,
    ("malloc", SAMPLED): _BLOCK_MAPS,
    ("malloc", CALLS): {"max_stacks": 1208, "max_calls": 248},
    ("mmap", ""): {"ring_pages": 4115, "max_calls": 144},
    ("brk", ""): {"ring_pages": 4115, "max_calls": 144},
    ("page_faults", ""): {"ring_pages": 4115, "max_stacks": 1560},
}
_UNWINDING_MAPS = {"ring_pages": 4115, "max_stacks": 472}


@dataclass(frozen=True, slots=True)
class Terms:
    """What prices depend on beside the events: the machine, and the program's code."""

    traps: TrapCosts
    unwind: UnwindChoice  # of malloc's stacks
    has_session_links: bool = True  # else each return costs, also of a call that is not sampled

    @property
    def stack_ns(self) -> float:
        """On top of a stack that is found along frame pointers."""
        return UNWOUND_NS if self.unwind.is_dwarf else 0


def estimate_of(counts: Counts, terms: Terms, obstacles: Mapping[str, str]) -> Estimate:
    """Prices of all that can be recorded; `obstacles` are the collectors that can't run here, with the reason."""
    methods = [method for method in METHODS if method.collector not in obstacles]
    if not _has_allocator(counts):
        methods = [method for method in methods if method.collector != "malloc"]
    prices = [price_of(method, counts, terms) for method in methods]
    a_second = {name: rate or 0.0 for name, rate in rates_of(counts).a_second.items()}
    notes = (*(f"{name}: {why}" for name, why in obstacles.items()), *_notes(counts, terms))
    return Estimate(counts.seconds, a_second, counts.callers, tuple(_with_recommended(prices)), notes)


def price_of(method: Method, counts: Counts, terms: Terms) -> Price:
    cost_s = _COSTS_NS[method.collector, method.mode](counts, terms) / 1e9
    return Price(
        method.collector,
        method.mode,
        share=cost_s / counts.seconds,
        slowdown=_slowdown(cost_s, counts, terms.traps),
        own_share=_own_s(method.collector, counts) / counts.seconds,
        map_bytes=map_bytes(method, unwinds=terms.unwind.is_dwarf),
    )


def map_bytes(method: Method, *, unwinds: bool = False) -> int:
    """Locked memory of a recording with default sizes."""
    own = _MAP_BYTES[method.collector, method.mode].items()
    unwinding = _UNWINDING_MAPS.items() if unwinds and method.collector == "malloc" else ()
    return sum(bytes_each * OPTIONS[name].default for name, bytes_each in (*own, *unwinding))


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


def _exact_ns(counts: Counts, terms: Terms) -> float:
    behind: dict[Role, float] = {
        "allocates": EXACT_ALLOCATION_NS + terms.stack_ns,
        "wraps": WRAPPER_NS,
        "frees": EXACT_FREE_NS,
    }
    return _hits_ns(counts, terms, behind) + _returns_ns(counts, terms.traps)


def _sampled_ns(counts: Counts, terms: Terms) -> float:
    behind: dict[Role, float] = {"allocates": UNSAMPLED_ALLOCATION_NS, "wraps": WRAPPER_NS, "frees": SAMPLED_FREE_NS}
    samples = min(counts.allocations, counts.requested_bytes / DEFAULT_SAMPLE_BYTES)
    share = samples / counts.allocations if counts.allocations and terms.has_session_links else 1
    stacks_ns = samples * (EXACT_ALLOCATION_NS + terms.stack_ns)
    return _hits_ns(counts, terms, behind) + _returns_ns(counts, terms.traps, share) + stacks_ns


def _returns_ns(counts: Counts, traps: TrapCosts, share: float = 1) -> float:
    """Of probes where allocations return, of which that share is followed. One on a ret instruction is always hit."""
    allocating = [known for known in counts.functions if known.role == "allocates"]
    stepped = sum(known.calls for known in allocating if known.has_ret_probes)
    returning = sum(known.calls for known in allocating if not known.has_ret_probes)
    return stepped * traps.stepped_ns + returning * share * traps.return_ns


def _calls_ns(counts: Counts, terms: Terms) -> float:
    return _hits_ns(counts, terms, {"allocates": CALL_NS + terms.stack_ns, "wraps": WRAPPER_NS})


def _hits_ns(counts: Counts, terms: Terms, behind: Mapping[Role, float]) -> float:
    """Of probes at the entry of functions of these roles, with what is done behind the trap."""
    probed = (known for known in counts.functions if known.role in behind)
    return sum(known.calls * (_trap_ns(known, terms.traps) + behind[known.role]) for known in probed)


_COSTS_NS: Mapping[tuple[str, str], Callable[[Counts, Terms], float]] = {
    ("malloc", EXACT): _exact_ns,
    ("malloc", SAMPLED): _sampled_ns,
    ("malloc", CALLS): _calls_ns,
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


def _with_recommended(prices: Sequence[Price]) -> Iterator[Price]:
    """The first that fits the budget: they come with what tells most about growth first."""
    chosen = next((price for price in prices if price.share <= BUDGET_SHARE), None)
    for price in prices:
        yield replace(price, is_recommended=price is chosen)


def _has_allocator(counts: Counts) -> bool:
    return any(known.role == "allocates" for known in counts.functions)


def _notes(counts: Counts, terms: Terms) -> Iterator[str]:
    if not _has_allocator(counts):
        yield "malloc: no allocator function was found in this process; it may be linked statically and stripped."
    if terms.unwind.is_dwarf:
        yield f"{terms.unwind.reason} Each of malloc's stacks costs about {UNWOUND_NS / 1000:.1f} µs more for that."
    if counts.callers >= MAX_CALLERS:
        yield f"More than {MAX_CALLERS:,} places allocate; more were not counted."
    dear = sorted({known.symbol for known in counts.functions if known.kind == "single-step" and known.calls})
    if dear:
        stepped_us = terms.traps.stepped_ns / 1000
        yield f"No cheap place for a probe in {', '.join(dear)}: the trap of each call takes {stepped_us:.1f} µs."
    if not terms.traps.is_measured:
        yield "The price of a trap could not be measured on this machine; it is that of another one."
