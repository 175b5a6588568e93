"""The moves of a run: each is one conditional UPDATE, so that of two callers one wins and the other hears it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from tracer import protocol
from webapp.hosts.models import Host
from webapp.runs import dispatch, notify
from webapp.runs.models import ACTIVE, WITH_AGENT, Run, RunLabel, State
from webapp.teams.models import Project, User

Outcome = Literal["done", "stopped", "target_exited", "over_budget", "failed", "cancelled"]

REASON_CHARACTERS = 500
# An agent that finished sends what it spooled within minutes; what has not come by then is not waited for.
MISSING_SNAPSHOTS_AFTER = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Claim:
    """What an agent gets for a run that it won."""

    spec: Mapping[str, Any]
    lease_s: float


def request_run(
    project: Project,
    created_by: User | None,
    *,
    host: Host,
    process: Mapping[str, Any],
    target: str = "",
    collector: str,
    duration_s: float,
    snapshot_every_s: float = 0.0,
    service: str = "",
    deploy: str = "",
    labels: Mapping[str, str] | None = None,
    options: Mapping[str, int | str] | None = None,
) -> Run:
    """Queue a recording and nudge its host. `process` has `pid`, `start_time`, `command` as in Host.processes.

    With a `target`, the text of a Selector, it is the first of several.

    ValueError says in words what is wrong: the host is another team's, or the recording passes a limit.
    """
    if host.team_id != project.team_id:
        raise ValueError(f"{host.name} is not a host of the team of {project.slug}")
    run = Run(
        project=project, created_by=created_by, host=host, host_name=host.name, collector=collector,
        service=service, deploy=deploy, labels=dict(labels or {}), title=str(process.get("command", ""))[:200],
        command=str(process.get("command", ""))[:300],
    )  # fmt: skip
    spec = protocol.RunSpec(
        run=run.run_id, collector=collector, pid=int(process["pid"]), start_time=int(process.get("start_time", 0)),
        target=target, duration_s=duration_s, snapshot_every_s=snapshot_every_s, options=dict(options or {}),
    )  # fmt: skip
    run.spec = protocol.RunSpec.from_dict(spec.to_dict()).to_dict()
    run.expected_snapshots = _expected_snapshots(spec)
    with transaction.atomic():
        run.save()
        add_labels(run)
    dispatch.nudge_host(run)
    return run


def add_labels(run: Run) -> None:
    """Rows of the run's labels, for filtering."""
    RunLabel.objects.bulk_create(
        RunLabel(run=run, project=run.project, key=key, value=value) for key, value in run.labels.items()
    )


def _expected_snapshots(spec: protocol.RunSpec) -> int:
    every = spec.snapshot_every_s or spec.duration_s
    if every < 0:
        raise ValueError(f"time between snapshots is {every:g} s, it must be positive")
    expected = max(1, -(-spec.duration_s // every))
    if spec.is_pulled:
        expected = 1 + expected if spec.snapshot_every_s else 1  # one at once, the others after it
    if expected > protocol.MAX_SNAPSHOTS:
        raise ValueError(f"the recording would have {expected:.0f} snapshots, the limit is {protocol.MAX_SNAPSHOTS}")
    return int(expected)


def claim(run: Run, host: Host, attempt: str) -> Claim | None:
    """Give a queued run to this attempt; the same attempt may ask again; None if it is another's or not queued."""
    now = timezone.now()
    is_won = Run.objects.filter(host=host).move(
        run.pk, old=State.QUEUED, state=State.CLAIMED, attempt=attempt, lease_expires_at=now + run.lease
    )
    is_ours = is_won or _held(run, attempt).update(lease_expires_at=now + run.lease) == 1
    if is_won:
        notify.run_changed(run.run_id)
    return Claim(run.spec, protocol.LEASE_S) if is_ours else None


def note_progress(
    run: Run, attempt: str, *, is_recording: bool, elapsed_s: float, events: int, lost: Mapping[str, int]
) -> Literal["", "stop", "cancel"] | None:
    """Renew the lease and keep the figures; answers what the agent shall do, None if the run is not its any more."""
    now = timezone.now()
    fields: dict[str, Any] = {"lease_expires_at": now + run.lease, "changed_at": now}
    if is_recording:
        attached_at = now - timedelta(seconds=elapsed_s)
        fields |= {"state": State.RECORDING, "started_at": Coalesce(F("started_at"), Value(attached_at))}
        fields |= {"elapsed_s": elapsed_s, "events": events, "lost": dict(lost)}
    is_held = _held(run, attempt).update(**fields) == 1
    if is_held:
        notify.run_changed(run.run_id)
    run.refresh_from_db(fields=["state", "attempt", "stop_requested"])
    if run.attempt == attempt and run.state == State.CANCELLED:
        return "cancel"
    return _STOP_WORDS[run.stop_requested] if is_held else None


_STOP_WORDS: Mapping[str, Literal["", "stop", "cancel"]] = {"": "", "stop": "stop", "cancel": "cancel"}


def finish(run: Run, attempt: str, outcome: Outcome, *, reason: str = "", snapshots: int = 0) -> State | None:
    """The agent is done with the run; answers the run's state, None if the run is another attempt's. Idempotent."""
    now = timezone.now()
    fields: dict[str, Any] = {"ended_at": now, "changed_at": now, "lease_expires_at": None}
    fields |= _fields_of_outcome(outcome, reason[:REASON_CHARACTERS], snapshots)
    is_moved = _held(run, attempt).update(**fields) == 1
    if is_moved:
        settle(run.pk)
        notify.run_changed(run.run_id)
    run.refresh_from_db(fields=["state", "attempt"])
    return State(run.state) if run.attempt == attempt else None


def _fields_of_outcome(outcome: Outcome, reason: str, snapshots: int) -> dict[str, Any]:
    if outcome == "failed":
        return {"state": State.FAILED, "reason": reason or "The agent could not record, and did not say why."}
    if outcome == "cancelled":
        return {"state": State.CANCELLED, "reason": reason or "Cancelled."}
    if snapshots < 1:
        return {"state": State.FAILED, "reason": reason or "The agent ended without a snapshot."}
    return {"state": State.INGESTING, "reason": reason, "expected_snapshots": snapshots}


def settle(run_pk: int) -> bool:
    """An ingesting run whose snapshots have all come and been read becomes ready, or failed if none could be read.

    Of an upload all must: whoever sent a set is not to take a part of it for the whole. One that a service pushes is
    ready with the first that was read.
    """
    run = Run.objects.get(pk=run_pk)
    if run.state != State.INGESTING:
        return False
    snapshots = list(run.snapshots.values_list("ingested_at", "error"))
    has_one = any(ingested_at and not error for ingested_at, error in snapshots)
    is_waiting = len(snapshots) < run.expected_snapshots or any(not ingested_at for ingested_at, _ in snapshots)
    if is_waiting and not (run.is_pushed and has_one):  # what is pushed goes on, so it need not have come
        return False
    errors = [error for _, error in snapshots if error]
    is_readable = not errors or (len(errors) < len(snapshots) and not run.upload_files)
    fields = {"state": State.READY} if is_readable else {"state": State.FAILED, "reason": errors[-1]}
    is_moved = Run.objects.move(run_pk, old=State.INGESTING, **fields)
    if is_moved:
        notify.run_changed(run.run_id)
    return is_moved


def request_stop(run: Run, what: Literal["stop", "cancel"], *, by: str = "") -> bool:
    """Stop now and keep (`stop`), or give up (`cancel`); False if the run has ended already.

    A cancelled run is cancelled at once; its agent hears it in the answer to its next progress post.
    """
    now = timezone.now()
    reason = f"Cancelled by {by}." if by else "Cancelled."
    cancelled = {"state": State.CANCELLED, "reason": reason, "stop_requested": "cancel", "ended_at": now}
    if what == "cancel":
        is_moved = Run.objects.move(run.pk, old=ACTIVE, **cancelled)
    else:
        is_moved = Run.objects.move(run.pk, old=WITH_AGENT, stop_requested="stop") or Run.objects.move(
            run.pk, old=State.QUEUED, **cancelled | {"reason": "Stopped before the agent took it."}
        )
    if is_moved:
        notify.run_changed(run.run_id)
    return is_moved


def fail_overdue(now: datetime) -> list[str]:
    """Fail the runs whose agent is silent for longer than its lease; snapshots are kept. Answers the runs' ids."""
    failed = []
    for run in Run.objects.overdue(now):
        seen_at = run.lease_expires_at - run.lease if run.lease_expires_at else now
        reason = f"The agent on {run.host_name} was last heard at {seen_at:%H:%M:%S} UTC. {_kept(run)}"
        # The lease again: a progress post between the query and here has saved the run.
        if Run.objects.overdue(now).move(
            run.pk, old=WITH_AGENT, state=State.FAILED, reason=reason, ended_at=now, lease_expires_at=None
        ):
            notify.run_changed(run.run_id)
            failed.append(run.run_id)
    return failed


def settle_incomplete(now: datetime) -> list[str]:
    """Runs whose last snapshots never came: ready with what there is; failed if there is none, or it was uploaded."""
    settled = []
    for run in Run.objects.incomplete_since(now - MISSING_SNAPSHOTS_AFTER):
        came = run.snapshots.filter(error="").count()
        what = "files of the upload" if run.upload_files else "snapshots"
        reason = f"{came} of {run.expected_snapshots} {what} arrived."
        state = State.READY if came and not run.upload_files else State.FAILED
        if Run.objects.move(run.pk, old=State.INGESTING, state=state, reason=reason):
            notify.run_changed(run.run_id)
            settled.append(run.run_id)
    return settled


def _held(run: Run, attempt: str) -> Any:
    return Run.objects.filter(pk=run.pk, attempt=attempt, state__in=WITH_AGENT)


def _kept(run: Run) -> str:
    count = run.snapshots.count()
    if count == 0:
        return "It had sent no snapshot."
    return "The snapshot it sent is kept." if count == 1 else f"The {count} snapshots it sent are kept."
