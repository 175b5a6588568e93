"""Prices of ways to record: events times what each costs, and which one is recommended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tracer.bpf.trap_cost import TrapCosts
from tracer.collectors import estimate
from tracer.collectors.counting import MAX_CALLERS, Counts
from tracer.collectors.counting_probes import FunctionCalls
from tracer.collectors.estimate import Terms, estimate_of, map_bytes, price_of
from tracer.collectors.unwind_choice import UnwindChoice
from tracer.options.modes import DEFAULT_SAMPLE_BYTES
from tracer.prices import METHODS, MOST_SLOWDOWN, Estimate

TRAPS = TrapCosts(emulated_ns=800, stepped_ns=9000, return_ns=500)
TERMS = Terms(TRAPS, UnwindChoice("fp"))
UNWINDING = Terms(TRAPS, UnwindChoice("dwarf", "svc keeps no frame pointers."))
METHOD = {method.name: method for method in METHODS}

MALLOC = FunctionCalls("libc.so.6", "malloc", "allocates", "emulated", calls=1000, bytes=10 * DEFAULT_SAMPLE_BYTES)
NEW = FunctionCalls("libstdc++.so.6", "_Znwm", "wraps", "emulated", calls=400, bytes=4096)
FREE = FunctionCalls("libc.so.6", "free", "frees", "single-step", calls=900)
COUNTS = Counts(
    2.0,
    1.0,
    (MALLOC, NEW, FREE),
    callers=12,
    brk_calls=4,
    mmap_calls=6,
    munmap_calls=2,
    minor_faults=70,
    major_faults=30,
)


def cost_ns(name, counts=COUNTS, terms=TERMS):
    """Of all that was counted."""
    return round(price_of(METHOD[name], counts, terms).share * counts.seconds * 1e9)


def test_exact_pays_for_entry_return_and_free():
    assert cost_ns("malloc, exact") == (
        1000 * (800 + 500 + estimate.EXACT_ALLOCATION_NS)
        + 400 * (800 + estimate.WRAPPER_NS)
        + 900 * (9000 + estimate.EXACT_FREE_NS)
    )


def test_sampled_pays_for_each_trap_and_for_the_return_of_what_it_picks():
    assert cost_ns("malloc, sampled") == (
        1000 * (800 + estimate.UNSAMPLED_ALLOCATION_NS)
        + 400 * (800 + estimate.WRAPPER_NS)
        + 900 * (9000 + estimate.SAMPLED_FREE_NS)
        + 10 * (500 + estimate.EXACT_ALLOCATION_NS)
    )


def test_without_session_links_each_return_is_paid_for():
    plain, old = cost_ns("malloc, sampled"), cost_ns("malloc, sampled", terms=replace(TERMS, has_session_links=False))

    assert old - plain == (1000 - 10) * 500


def test_more_is_never_sampled_than_is_allocated():
    huge = Counts(2.0, 1.0, (FunctionCalls("a", "malloc", "allocates", "emulated", calls=3, bytes=1 << 40),))

    assert cost_ns("malloc, sampled", huge) == 3 * (
        800 + estimate.UNSAMPLED_ALLOCATION_NS + 500 + estimate.EXACT_ALLOCATION_NS
    )


def test_calls_leaves_frees_alone():
    assert cost_ns("malloc, calls") == 1000 * (800 + estimate.CALL_NS) + 400 * (800 + estimate.WRAPPER_NS)


def test_an_operator_new_with_probes_on_its_rets_pays_for_single_steps():
    new = FunctionCalls("libtcmalloc.so.4", "_Znwm", "allocates", "emulated", has_ret_probes=True, calls=10)

    assert cost_ns("malloc, exact", Counts(1.0, 1.0, (new,))) == 10 * (800 + 9000 + estimate.EXACT_ALLOCATION_NS)
    assert cost_ns("malloc, sampled", Counts(1.0, 1.0, (new,))) == 10 * (
        800 + 9000 + estimate.UNSAMPLED_ALLOCATION_NS
    )  # fmt: skip


@pytest.mark.parametrize(
    "name, nanoseconds",
    [
        ("brk", 4 * estimate.BRK_NS),
        ("mmap", 6 * estimate.MMAP_NS + 2 * estimate.MUNMAP_NS),
        ("page_faults", 100 * estimate.FAULT_NS),
    ],
)
def test_the_kernels_collectors_pay_by_the_event(name, nanoseconds):
    assert cost_ns(name) == nanoseconds


def test_the_slowdown_is_of_the_work_without_the_counting():
    busy = Counts(1.0, 1.0, minor_faults=100_000)
    counted = Counts(1.0, 1.0, (FunctionCalls("a", "free", "frees", "emulated", calls=500_000),), minor_faults=100_000)

    assert price_of(METHOD["page_faults"], busy, TERMS).slowdown == 0.2
    assert price_of(METHOD["page_faults"], counted, TERMS).slowdown == pytest.approx(0.2 / (1 - 0.5 * 0.95))


def test_a_program_that_only_allocates_is_slowed_beyond_measure():
    counts = Counts(1.0, 1.0, (FunctionCalls("a", "malloc", "allocates", "emulated", calls=1_060_000),))

    assert price_of(METHOD["malloc, exact"], counts, TERMS).slowdown == MOST_SLOWDOWN


def test_a_program_that_does_nothing_has_no_slowdown():
    assert price_of(METHOD["malloc, exact"], Counts(1.0, 0.0), TERMS).slowdown is None


def test_memflame_itself_unwinds_what_is_copied_within_its_budget():
    own = {name: price_of(METHOD[name], COUNTS, TERMS).own_share for name in METHOD}
    many = price_of(METHOD["page_faults"], Counts(2.0, 1.0, minor_faults=1_000_000), TERMS)

    assert own == {**dict.fromkeys(METHOD, 0.0), "mmap": 3e-4, "brk": 2e-4, "page_faults": 5e-3}
    assert many.own_share == 2000 * estimate.UNWINDING_NS / 1e9


def test_memory_is_what_the_maps_of_the_default_sizes_take():
    by_frame_pointers = 16_384 * 1224 + (1 << 20) * 104 + 16_384 * 328

    assert map_bytes(METHOD["malloc, exact"]) == by_frame_pointers
    assert map_bytes(METHOD["malloc, exact"], unwinds=True) == by_frame_pointers + 4096 * 4115 + 16_384 * 472


@pytest.mark.parametrize("name, stacks", [("malloc, exact", 1000), ("malloc, sampled", 10), ("malloc, calls", 1000)])
def test_unwinding_is_paid_for_each_stack_that_is_taken(name, stacks):
    plain, unwound = (price_of(METHOD[name], COUNTS, terms).share for terms in (TERMS, UNWINDING))

    assert round((unwound - plain) * COUNTS.seconds * 1e9) == stacks * estimate.UNWOUND_NS


def recommended(counts, obstacles=None):
    prices = estimate_of(counts, TERMS, obstacles or {}).prices
    return [price.method.name for price in prices if price.is_recommended]


def malloc_at(calls):
    return Counts(1.0, 0.5, (FunctionCalls("a", "malloc", "allocates", "emulated", calls=calls, bytes=64 * calls),))


def test_the_first_that_fits_the_budget_is_recommended():
    assert recommended(malloc_at(1_000)) == ["malloc, exact"]
    assert recommended(malloc_at(90_000)) == ["malloc, sampled"]
    assert recommended(malloc_at(900_000)) == ["mmap"]


def test_nothing_is_recommended_when_nothing_fits():
    counts = Counts(1.0, 0.5, brk_calls=1 << 20, mmap_calls=1 << 20, minor_faults=1 << 20)

    assert recommended(counts) == []


def test_a_process_without_an_allocator_has_no_price_for_malloc_and_says_why():
    found = estimate_of(Counts(1.0, 0.5), TERMS, {})

    assert {price.collector for price in found.prices} == {"mmap", "brk", "page_faults"}
    assert found.notes == (
        "malloc: no allocator function was found in this process; it may be linked statically and stripped.",
    )


def test_a_collector_that_cannot_run_has_no_price_but_its_reason():
    found = estimate_of(malloc_at(1), TERMS, {"brk": "This kernel has no tracefs."})

    assert "brk" not in {price.collector for price in found.prices}
    assert found.notes == ("brk: This kernel has no tracefs.",)


def test_dear_probes_and_what_is_not_known_are_said():
    assumed = replace(UNWINDING, traps=TrapCosts(750, 10_000, 500, is_measured=False))
    found = estimate_of(Counts(1.0, 0.5, (MALLOC, FREE), callers=MAX_CALLERS), assumed, {})

    assert found.notes == (
        "svc keeps no frame pointers. Each of malloc's stacks costs about 1.5 µs more for that.",
        "More than 65,536 places allocate; more were not counted.",
        "No cheap place for a probe in free: the trap of each call takes 10.0 µs.",
        "The price of a trap could not be measured on this machine; it is that of another one.",
    )


def test_an_estimate_is_the_same_after_it_was_sent():
    found = estimate_of(COUNTS, UNWINDING, {"brk": "not here"})

    assert Estimate.from_dict(found.to_dict()) == found
