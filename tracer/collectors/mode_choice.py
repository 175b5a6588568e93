"""Mode auto to exact or sampled: by what exact would take of one core, told from some seconds of counting only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tracer.collectors.counting import Counts
from tracer.collectors.estimate import Terms, price_of
from tracer.collectors.price_tag import counted
from tracer.options.limits import budget_share
from tracer.options.modes import AUTO, EXACT, MODE, MODE_REASON, SAMPLE_BYTES, SAMPLED
from tracer.prices import METHODS
from tracer.protocol import RunSpec

_COUNTED_S = 2.0  # long enough for a rate, short enough for one who waits to see "attached"
_EXACT = next(method for method in METHODS if (method.collector, method.mode) == ("malloc", EXACT))


Count = Callable[[RunSpec, float], tuple[Counts, Terms]]


def decided(spec: RunSpec, count: Count = counted) -> tuple[RunSpec, dict[str, object]]:
    """The spec with a mode instead of auto, and the key of the capture that says why. Raise CollectorError."""
    if spec.options.get(MODE) != AUTO:
        return spec, {}
    mode, reason = _choice(spec, count)
    options = {**spec.options, MODE: mode}
    if mode == EXACT:
        options.pop(SAMPLE_BYTES, None)
    return replace(spec, options=options), {MODE_REASON: reason}


def _choice(spec: RunSpec, count: Count) -> tuple[str, str]:
    budget = budget_share(spec.options)
    if budget is None:
        return EXACT, "The run has no budget."
    return fitting_mode(*count(spec, _COUNTED_S), budget)


def fitting_mode(counts: Counts, terms: Terms, budget: float) -> tuple[str, str]:
    """The mode, and the sentence that says why."""
    share = price_of(_EXACT, counts, terms).share
    fits = share <= budget
    rate = f"{counts.allocations / counts.seconds:,.0f} allocations a second"
    takes = f"following all of them {'takes' if fits else 'would take'} {share:.1%} of one core"
    return (
        EXACT if fits else SAMPLED,
        f"In {counts.seconds:.1f} s there were {rate}: {takes}, the budget is {budget:.0%}.",
    )
