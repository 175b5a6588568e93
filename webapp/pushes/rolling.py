"""A pushed profile to the next snapshot of its series' rolling run, once however often it is sent."""

from __future__ import annotations

import io
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from webapp.bodies import Body, received
from webapp.errors import ApiError
from webapp.pushes import budget
from webapp.pushes.arrivals import Arrival, arrival_of, ignored_as
from webapp.pushes.models import IgnoredPushes, Push, RollingRun, RollingRunQuerySet
from webapp.pushes.profiles import Pushed, head_of_pprof
from webapp.runs import notify, states, uploads
from webapp.runs.models import Run, Snapshot, State
from webapp.teams.models import ApiToken

MOST_AT_ONCE = 200
_TRIES = 3


def take(token: ApiToken, pushed: Pushed, *, sender: str, agent: str) -> Snapshot | None:
    """Keep a profile, on disk when this returns; None for one that is not about memory, which is counted."""
    head = head_of_pprof(pushed.body) if pushed.is_memory is None else None
    now = timezone.now()
    if ignored := ignored_as(pushed, head):
        IgnoredPushes.count_one(token.project, ignored, now)
        return None
    arrival = arrival_of(token.project, pushed, head, sender=sender, now=now)
    for _ in range(_TRIES):
        try:
            return _known(arrival) or _keep(arrival, agent, now)
        except IntegrityError:  # the same push, or the first of the same series, came at the same moment
            continue
    raise ApiError(503, "Too many pushes of one series came at the same moment; try again.")


def _known(arrival: Arrival) -> Snapshot | None:
    push = Push.objects.filter(project=arrival.project, key=arrival.key).select_related("snapshot").first()
    return push.snapshot if push else None


def _keep(arrival: Arrival, agent: str, now: datetime) -> Snapshot:
    with received(io.BytesIO(arrival.pushed.body)) as body, transaction.atomic():
        budget.check_snapshots(arrival.project, now)
        rolling = _open_run(arrival, now) or _new_run(arrival, agent, now)
        # Again, since it may have come while we waited for the lock.
        return _known(arrival) or _append(rolling, arrival, body, now)


def _append(rolling: RollingRun, arrival: Arrival, body: Body, now: datetime) -> Snapshot:
    run, seq = rolling.run, rolling.last_seq + 1
    elapsed_s = max(0.0, (arrival.ended_at - (run.started_at or now)).total_seconds())
    told = arrival.told(since_last_s=max(0.0, elapsed_s - run.elapsed_s) if rolling.last_seq else 0.0)
    snapshot = uploads.keep_snapshot(run, seq, body, elapsed_s=elapsed_s, encoding="").snapshot
    Snapshot.objects.filter(pk=snapshot.pk).update(capture=told)
    Push.objects.create(project=arrival.project, rolling=rolling, snapshot=snapshot, key=arrival.key)
    RollingRun.objects.filter(pk=rolling.pk).update(last_seq=seq, last_push_at=now)
    _extend(run, seq, elapsed_s, now)
    return snapshot


def _open_run(arrival: Arrival, now: datetime) -> RollingRun | None:
    """Locked, so that two pushes of one series have two numbers."""
    rows = RollingRun.objects.open(now).filter(
        project=arrival.project, series=arrival.series.key, day=now.date(), last_seq__lt=settings.MAX_SNAPSHOTS
    )
    return rows.select_for_update(of=("self",)).select_related("run").order_by("-part").first()


def _new_run(arrival: Arrival, agent: str, now: datetime) -> RollingRun:
    series, project = arrival.series, arrival.project
    _close(RollingRun.objects.open(now).filter(project=project, series=series.key), now)
    budget.check_instances(project, now)
    run = Run.objects.create(
        project=project, service=series.service, deploy=series.deploy, host_name=series.instance,
        collector="folded" if arrival.pushed.value_type else "pprof", title=f"{series.kind} of {series.instance}"[:200],
        labels=dict(series.labels), spec={"pushed": {"kind": series.kind, "agent": agent[:200]}}, state=State.INGESTING,
        started_at=arrival.began_at, lease_expires_at=now + _silence(),
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
    return _close(RollingRun.objects.silent(now), now)


def _close(found: RollingRunQuerySet, now: datetime) -> int:
    closed = 0
    for rolling in found.select_related("run")[:MOST_AT_ONCE]:
        # The lease again: a push between the query and here keeps the run open.
        if Run.objects.filter(pk=rolling.run_id, lease_expires_at=rolling.run.lease_expires_at).update(
            lease_expires_at=None, ended_at=rolling.last_push_at, changed_at=now
        ):
            notify.run_changed(rolling.run.run_id)
            closed += 1
    return closed
