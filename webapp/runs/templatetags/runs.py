"""How a run's state is shown: glyph, word, and the reason beside it."""

from __future__ import annotations

from dataclasses import dataclass

from django import template

from tracer.profile.amounts import NBSP, value
from webapp.runs.models import Run, State
from webapp.runs.templatetags.numbers import duration

register = template.Library()


@dataclass(frozen=True, slots=True)
class Status:
    word: str
    glyph: str
    look: str = ""  # live, weak or failed; quiet otherwise: ready is no news
    detail: str = ""


def status_of(run: Run) -> Status:
    """Weak data is a quality and no state, yet in a list it is what one must know of a ready run."""
    state = State(run.state)
    if state is State.READY:
        lost = lost_events(run)
        return Status("weak data", "warn", "weak", lost_share(lost, run.events)) if lost else Status("ready", "ok")
    if state is State.RECORDING:
        return Status("recording", "dot", "live", f"{duration(run.elapsed_s)} of {duration(run.duration_s)}")
    if state is State.INGESTING:
        return Status("reading", "wait", detail=f"{run.snapshot_count} of {run.expected_snapshots}")
    if state is State.CLAIMED:
        return Status("starting", "wait")
    if state is State.QUEUED:
        return Status("queued", "wait", detail=f"for {run.host_name}" if run.host_name else "")
    if state is State.FAILED:
        return Status("failed", "fail", "failed", run.reason)
    return Status("cancelled", "x", detail=run.reason.removeprefix("Cancelled").strip(" ."))


def lost_events(run: Run) -> int:
    return sum(int(count) for count in run.lost.values())


def lost_share(lost: int, events: int) -> str:
    """`2.1 % lost`; the count itself where the share would read 0.0 %."""
    percent = 100 * lost / (events + lost)
    return f"{percent:.1f}{NBSP}% lost" if percent >= 0.05 else f"{value(lost, 'events')} lost"


@register.inclusion_tag("runs/status.html")
def status(run: Run) -> dict[str, object]:
    shown = status_of(run)
    return {
        "word": shown.word,
        "glyph": shown.glyph,
        "look": shown.look,
        "detail": shown.detail,
    }
