"""A process to what recording it would cost: counted for some seconds, nothing recorded."""

from __future__ import annotations

from collections.abc import Callable

from tracer.bpf.trap_cost import trap_costs
from tracer.collectors.ability import abilities
from tracer.collectors.counting import count_events
from tracer.collectors.errors import CollectorError
from tracer.collectors.estimate import estimate_of
from tracer.prices import Estimate

SECONDS = 3.0
_LEAST_SECONDS = 0.5  # fewer say nothing of a rate


def price_tag(
    pid: int, seconds: float = SECONDS, *, start_time: int = 0, should_stop: Callable[[], bool] = lambda: False
) -> Estimate:
    """Raise CollectorError if the process can't be counted, or was gone before it was."""
    obstacles = {name: why for name, why in abilities().items() if why}
    if "malloc" in obstacles:
        raise CollectorError(obstacles["malloc"])
    traps = trap_costs()
    counts = count_events(pid, seconds, start_time=start_time, should_stop=should_stop)
    if counts.seconds < min(seconds, _LEAST_SECONDS):
        raise CollectorError(f"process {pid} was counted for {counts.seconds:.1f} s only: too short for an estimate")
    return estimate_of(counts, traps, obstacles)
