"""Whether each collector can run on this host, and if not, why and what helps."""

from __future__ import annotations

from tracer.collectors.check import Check
from tracer.collectors.host_checks import needs_by_perf, needs_of
from tracer.options.pull import PULLED
from tracer.protocol import COLLECTORS, TRACED


def abilities() -> dict[str, str]:
    """Collector to an empty string, or to a sentence that says why it can't run here."""
    return {name: _first_obstacle(needs_of(name)) for name in COLLECTORS}


def abilities_by_perf() -> dict[str, str]:
    """The same with perf as the source, which needs neither bcc nor type information."""
    by_perf = {name: _first_obstacle(needs_by_perf(name)) for name in TRACED}
    return by_perf | dict.fromkeys(PULLED, "The process makes this profile itself, perf has no part in it.")


def _first_obstacle(needs: list[Check]) -> str:
    # That perf is missing is a warning on a host with bcc; who asks for perf is stopped by it.
    return next((need.text for need in needs if need.state == "failure" or need.name == "perf" and need.mend), "")
