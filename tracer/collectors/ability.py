"""Whether each collector can run on this host, and if not, why and what helps."""

from __future__ import annotations

from tracer.collectors.host_checks import needs_of
from tracer.protocol import COLLECTORS


def abilities() -> dict[str, str]:
    """Collector to an empty string, or to a sentence that says why it can't run here."""
    return {name: _first_obstacle(name) for name in COLLECTORS}


def _first_obstacle(collector: str) -> str:
    return next((check.text for check in needs_of(collector) if check.state == "failure"), "")
