"""A pushed profile, with what it says itself, to its series, its moment, and what its flows cover."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from webapp.pushes.labels import DELTA, Series, series_of
from webapp.pushes.profiles import Head, Pushed
from webapp.teams.models import Project

CLOCKS_DIFFER = timedelta(hours=1)  # a sender's clock that is further off is not believed


@dataclass(frozen=True, slots=True)
class Arrival:
    """A push with all that is known of it."""

    project: Project
    series: Series
    pushed: Pushed
    ended_at: datetime
    covers_s: float  # until `ended_at`; 0 if nothing tells
    is_interval: bool  # flows are of that time, or since the push before; else since the process began

    @property
    def began_at(self) -> datetime:
        return self.ended_at - timedelta(seconds=self.covers_s)

    @property
    def key(self) -> str:
        """The same for a retry, and for nothing else."""
        interval = f"{self.series.key} {self.pushed.began_at} {self.pushed.ended_at} "
        return hashlib.sha256(interval.encode() + self.pushed.body).hexdigest()

    def told(self, *, since_last_s: float) -> dict[str, Any]:
        """What the reader of the snapshot must know, and its bytes do not tell: see webapp/runs/told.py."""
        told: dict[str, Any] = {}
        if self.is_interval:
            told["interval_s"] = round(self.covers_s or since_last_s, 3)
        if self.pushed.value_type:
            told["value_type"] = dict(self.pushed.value_type)
        return told


def ignored_as(pushed: Pushed, head: Head | None) -> str:
    """The kind that it counts as, of a profile that is not kept; SDKs also send memory profiles without a sample."""
    if head is None:
        return "" if pushed.is_memory else pushed.kind
    kind = pushed.kind or head.kind
    if not head.is_memory:
        return kind
    return "" if head.samples else f"{kind}, empty"


def arrival_of(project: Project, pushed: Pushed, head: Head | None, *, sender: str, now: datetime) -> Arrival:
    """`head` is None for text. ApiError for labels that no run can have."""
    kind = pushed.kind or (head.kind if head else str(pushed.value_type["name"]))
    series = series_of(pushed.labels, kind=kind, sender=sender)
    ended_at = pushed.ended_at or _ended_at(head) or now
    if abs(ended_at - now) > CLOCKS_DIFFER:
        ended_at = now
    return Arrival(project, series, pushed, ended_at, _covers_s(pushed, head), _is_interval(pushed, head))


def _ended_at(head: Head | None) -> datetime | None:
    if head is None or head.taken_at is None:
        return None
    return head.taken_at + timedelta(seconds=head.duration_s)


def _covers_s(pushed: Pushed, head: Head | None) -> float:
    if pushed.began_at and pushed.ended_at and pushed.began_at < pushed.ended_at:
        return (pushed.ended_at - pushed.began_at).total_seconds()
    return head.duration_s if head else 0.0


def _is_interval(pushed: Pushed, head: Head | None) -> bool:
    """As the sender says; else a profile with a duration is of it, and one without counts since the process began."""
    if pushed.is_interval is not None:
        return pushed.is_interval
    return pushed.labels.get(DELTA) == "false" or (head is not None and head.duration_s > 0)
