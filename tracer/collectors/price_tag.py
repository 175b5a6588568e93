"""A process to what recording it would cost: counted for some seconds, nothing recorded."""

from __future__ import annotations

from collections.abc import Callable

from tracer.bpf.program import has_session_links
from tracer.bpf.trap_cost import trap_costs
from tracer.collectors.ability import abilities
from tracer.collectors.counting import Counting, Counts
from tracer.collectors.errors import CollectorError
from tracer.collectors.estimate import Terms, estimate_of
from tracer.collectors.unwind_choice import chosen_unwind
from tracer.prices import SHORTEST_COUNT_S, Estimate
from tracer.protocol import RunSpec

SECONDS = 3.0


def price_tag(
    pid: int, seconds: float = SECONDS, *, start_time: int = 0, should_stop: Callable[[], bool] = lambda: False
) -> Estimate:
    """Raise CollectorError if the process can't be counted, or was gone before it was."""
    obstacles = {name: why for name, why in abilities().items() if why}
    if "malloc" in obstacles:
        raise CollectorError(obstacles["malloc"])
    counts, terms = counted(RunSpec("", "malloc", pid, start_time=start_time), seconds, should_stop)
    if counts.seconds < min(seconds, SHORTEST_COUNT_S):
        raise CollectorError(f"process {pid} was counted for {counts.seconds:.1f} s only: too short for an estimate")
    return estimate_of(counts, terms, obstacles)


def counted(spec: RunSpec, seconds: float, should_stop: Callable[[], bool] = lambda: False) -> tuple[Counts, Terms]:
    """What the process of a spec does, and what prices depend on beside that. Raise CollectorError."""
    traps = trap_costs()  # before: measuring takes a moment, which must not count
    with Counting(spec.pid, start_time=spec.start_time) as counting:
        counting.wait(seconds, should_stop)
        return counting.read(), Terms(traps, chosen_unwind(spec, counting.space), has_session_links())
