"""Mode auto: exact where following every block fits the budget, sampled otherwise, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from tracer.bpf.trap_cost import TrapCosts
from tracer.collectors.counting import Counts
from tracer.collectors.counting_probes import FunctionCalls
from tracer.collectors.estimate import Terms
from tracer.collectors.mode_choice import decided, fitting_mode
from tracer.collectors.unwind_choice import UnwindChoice
from tracer.protocol import RunSpec

TERMS = Terms(TrapCosts(750, 10_000, 500), UnwindChoice("fp"))


def counted(calls: int) -> Counts:
    """In two seconds, of malloc alone."""
    functions = (FunctionCalls("libc.so.6", "malloc", "allocates", "emulated", calls=calls, bytes=64 * calls),)
    return Counts(2.0, 1.0, functions)


def spec(**options: Any) -> RunSpec:
    return RunSpec("r-test", "malloc", 4711, options=options)


def never(*_: Any, **__: Any) -> Counts:
    raise AssertionError("nothing had to be counted")


def test_what_fits_the_budget_is_recorded_exactly():
    mode, reason = fitting_mode(counted(20_000), TERMS, 0.1)

    assert mode == "exact"
    assert reason == (
        "In 2.0 s there were 10,000 allocations a second: following all of them takes 2.5% of one core, "
        "the budget is 10%."
    )


def test_what_does_not_fit_is_sampled():
    mode, reason = fitting_mode(counted(200_000), TERMS, 0.1)

    assert mode == "sampled"
    assert "following all of them would take 25.5% of one core, the budget is 10%" in reason


def test_without_a_budget_all_is_followed_and_nothing_counted():
    chosen, facts = decided(spec(mode="auto", budget="none", sample_bytes=4096), never)

    assert chosen.options == {"mode": "exact", "budget": "none"}
    assert facts == {"mode_reason": "The run has no budget."}


@pytest.mark.parametrize("mode", ["exact", "sampled", "calls"])
def test_a_mode_that_was_asked_for_is_left_as_it_is(mode):
    assert decided(spec(mode=mode), never) == (spec(mode=mode), {})
