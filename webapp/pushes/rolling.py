"""A pushed profile to the next snapshot of its series' rolling run, once however often it is sent."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from webapp.errors import ApiError
from webapp.pushes import budget
from webapp.pushes.labels import DELTA, Series, series_of
from webapp.pushes.models import IgnoredPushes, Push, RollingRun
from webapp.pushes.profiles import Head, Pushed, head_of_pprof
from webapp.runs import notify, states, uploads
from webapp.runs.models import Run, Snapshot, State
from webapp.teams.models import ApiToken, Project

CLOCKS_DIFFER = timedelta(hours=1)  # a sender's clock that is further off is not believed
MOST_AT_ONCE = 200
_TRIES = 3


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A push with all that is known of it."""

    project: Project
    series: Series
    pushed: Pushed
    ended_at: datetime
    interval_s: float  # of its flows; 0 if they count since the process began
    covers_s: float  # from its beginning to its moment

    @property
    def key(self) -> str:
        interval = f"{self.series.key} {self.pushed.began_at} {self.pushed.ended_at} "
        return hashlib.sha256(interval.encode() + self.pushed.body).hexdigest()

    @property
    def told(self) -> dict[str, Any]:
        """What the reader of the snapshot must know, and its bytes do not tell."""
        told: dict[str, Any] = {"interval_s": round(self.interval_s, 3)} if self.interval_s else {}
        return told | ({"value_type": dict(self.pushed.value_type)} if self.pushed.value_type else {})


def take(token: ApiToken, pushed: Pushed, *, sender: str, agent: str) -> Snapshot | None:
    """Keep a profile, on disk when this returns; None for one that is not about memory, which is counted."""
    head = head_of_pprof(pushed.body) if pushed.is_memory is None else None
    now = timezone.now()
    if ignored := _ignored_as(pushed, head):
        IgnoredPushes.count_one(token.project, ignored, now)
        return None
    arrival = _arrival(token.project, pushed, head, sender, now)
    for _ in range(_TRIES):
        try:
            return _known(arrival) or _keep(arrival, agent, now)
        except IntegrityError:  # the same push, or the first of the same series, came at the same moment
            continue
    raise ApiError(503, "Too many pushes of one series came at the same moment; try again.")


def _ignored_as(pushed: Pushed, head: Head | None) -> str:
    """The kind that it counts as, of a profile that is not kept; SDKs also send memory profiles without a sample."""
    if head is None:
        return "" if pushed.is_memory else pushed.kind
    kind = pushed.kind or head.kind
    if not head.is_memory:
        return kind
    return "" if head.samples else f"{kind}, empty"


def _arrival(project: Project, pushed: Pushed, head: Head | None, sender: str, now: datetime) -> _Arrival:
    kind = pushed.kind or (head.kind if head else str(pushed.value_type["name"]))
    series = series_of(pushed.labels, kind=kind, sender=sender)
    duration_s = head.duration_s if head else 0.0
    ended_at = pushed.ended_at or _ended_at(head) or now
    if abs(ended_at - now) > CLOCKS_DIFFER:
        ended_at = now
    covers_s = duration_s
    if pushed.began_at and pushed.ended_at and pushed.began_at < pushed.ended_at:
        covers_s = (pushed.ended_at - pushed.began_at).total_seconds()
    return _Arrival(project, series, pushed, ended_at, covers_s if _is_interval(pushed, duration_s) else 0.0, covers_s)


def _ended_at(head: Head | None) -> datetime | None:
    if head is None or head.taken_at is None:
        return None
    return head.taken_at + timedelta(seconds=head.duration_s)


def _is_interval(pushed: Pushed, duration_s: float) -> bool:
    """As the sender says; else a profile with a duration is of it, and one without counts since the process began."""
    if pushed.is_interval is not None:
        return pushed.is_interval
    return pushed.labels.get(DELTA) == "false" or duration_s > 0


def _known(arrival: _Arrival) -> Snapshot | None:
    push = Push.objects.filter(project=arrival.project, key=arrival.key).select_related("snapshot").first()
    return push.snapshot if push else None


def _keep(arrival: _Arrival, agent: str, now: datetime) -> Snapshot:
    with uploads.received(io.BytesIO(arrival.pushed.body)) as body, transaction.atomic():
        budget.check_snapshots(arrival.project, now)
        rolling = _open_run(arrival, now) or _new_run(arrival, agent, now)
        if (known := _known(arrival)) is not None:  # it came while we waited for the lock
            return known
        seq = rolling.last_seq + 1
        elapsed_s = max(0.0, (arrival.ended_at - (rolling.run.started_at or now)).total_seconds())
        snapshot = uploads.keep_snapshot(rolling.run, seq, body, elapsed_s=elapsed_s, encoding="").snapshot
        Snapshot.objects.filter(pk=snapshot.pk).update(capture=arrival.told)
        Push.objects.create(project=arrival.project, rolling=rolling, snapshot=snapshot, key=arrival.key)
        RollingRun.objects.filter(pk=rolling.pk).update(last_seq=seq, last_push_at=now)
        _extend(rolling.run, seq, elapsed_s, now)
    return snapshot


def _open_run(arrival: _Arrival, now: datetime) -> RollingRun | None:
    """Locked, so that two pushes of one series have two numbers."""
    rows = RollingRun.objects.open(now).filter(
        project=arrival.project, series=arrival.series.key, day=now.date(), last_seq__lt=settings.MAX_SNAPSHOTS
    )
    return rows.select_for_update(of=("self",)).select_related("run").order_by("-part").first()


def _new_run(arrival: _Arrival, agent: str, now: datetime) -> RollingRun:
    budget.check_instances(arrival.project, now)
    series, project = arrival.series, arrival.project
    run = Run.objects.create(
        project=project, service=series.service, deploy=series.deploy, host_name=series.instance,
        collector="folded" if arrival.pushed.value_type else "pprof", title=f"{series.kind} of {series.instance}"[:200],
        labels=dict(series.labels), spec={"pushed": {"kind": series.kind, "agent": agent[:200]}}, state=State.INGESTING,
        started_at=arrival.ended_at - timedelta(seconds=arrival.covers_s), lease_expires_at=now + _silence(),
    )  # fmt: skip
    states.add_labels(run)
    day = now.date()
    earlier = RollingRun.objects.filter(project=project, series=series.key, day=day).aggregate(last=Max("part"))
    part = (earlier["last"] or 0) + 1
    return RollingRun.objects.create(run=run, project=project, series=series.key, day=day, part=part, last_push_at=now)


def _extend(run: Run, seq: int, elapsed_s: float, now: datetime) -> None:
    """Keep it open. One whose pushes so far could not be read waits for this one."""
    fields = {"elapsed_s": elapsed_s, "lease_expires_at": now + _silence(), "changed_at": now}
    Run.objects.filter(pk=run.pk).update(**fields)
    Run.objects.move(run.pk, old=State.FAILED, state=State.INGESTING, reason="", expected_snapshots=seq)


def _silence() -> timedelta:
    return timedelta(seconds=settings.PUSH_SILENT_S)


def close_silent(now: datetime) -> int:
    """End the runs whose instances push no more; answers how many."""
    closed = 0
    for rolling in RollingRun.objects.silent(now).select_related("run")[:MOST_AT_ONCE]:
        # The lease again: a push between the query and here keeps the run open.
        is_closed = Run.objects.filter(pk=rolling.run_id, lease_expires_at__lte=now).update(
            lease_expires_at=None, ended_at=rolling.last_push_at, changed_at=now
        )
        if is_closed:
            notify.run_changed(rolling.run.run_id)
            closed += 1
    return closed
