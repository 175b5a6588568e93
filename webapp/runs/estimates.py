"""The moves of an estimate: asked, claimed, finished, overdue; each is one conditional UPDATE, as with runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from tracer import prices
from webapp.hosts.models import Host
from webapp.runs import dispatch
from webapp.runs.models import Estimate, EstimateState
from webapp.teams.models import Project, User

KEPT_FOR = timedelta(days=1)
REASON_CHARACTERS = 500


class HostIsBusy(Exception):
    """The host counts another process at this moment."""


def ask(project: Project, asked_by: User, *, host: Host, process: Mapping[str, Any]) -> Estimate:
    """Queue an estimate and nudge its host. HostIsBusy while another one is under way there.

    Asking again for the same process gives the one that is under way.
    """
    now = timezone.now()
    fail_overdue(now)
    asked = Estimate(
        project=project, host=host, asked_by=asked_by, due_at=now + Estimate.DUE_AFTER, pid=int(process["pid"]),
        start_time=int(process.get("start_time", 0)), command=str(process.get("command", ""))[:300],
    )  # fmt: skip
    try:
        with transaction.atomic():
            asked.save()
    except IntegrityError:
        return _under_way(asked)
    dispatch.nudge_estimate(asked)
    return asked


def _under_way(asked: Estimate) -> Estimate:
    same = Estimate.objects.unfinished().filter(
        project=asked.project, host=asked.host, pid=asked.pid, start_time=asked.start_time
    )
    found = same.first()
    if found is None:
        raise HostIsBusy(f"{asked.host.name} counts another process now. Ask again in a few seconds.")
    return found


def claim(estimate: Estimate, attempt: str) -> bool:
    """Give a queued estimate to this attempt, which may ask again; False if it is another's, or not queued."""
    due_at = timezone.now() + Estimate.DUE_AFTER
    this = Estimate.objects.filter(pk=estimate.pk)
    is_won = this.filter(state=EstimateState.QUEUED).update(state=EstimateState.CLAIMED, attempt=attempt, due_at=due_at)
    return bool(is_won) or this.filter(state=EstimateState.CLAIMED, attempt=attempt).exists()


def finish(estimate: Estimate, attempt: str, result: prices.Estimate | None, reason: str) -> bool:
    """Keep what the agent found, or why it found nothing; False if the estimate is not this attempt's any more."""
    fields: dict[str, Any] = {
        "state": EstimateState.FAILED,
        "reason": reason[:REASON_CHARACTERS] or "The agent did not say why.",
    }
    if result is not None:
        fields = {"state": EstimateState.READY, "result": result.to_dict()}
    this = Estimate.objects.filter(pk=estimate.pk, attempt=attempt)
    return this.filter(state=EstimateState.CLAIMED).update(**fields) == 1


def fail_overdue(now: datetime) -> int:
    """Fail what no agent has taken or finished in time; answers how many."""
    failed = 0
    for estimate in Estimate.objects.overdue(now).select_related("host"):
        heard = "did not take it" if estimate.state == EstimateState.QUEUED else "took it and was not heard again"
        reason = f"The agent on {estimate.host.name} {heard}."
        # Due again: the agent may have claimed it between the query and here.
        failed += Estimate.objects.overdue(now).filter(pk=estimate.pk).update(
            state=EstimateState.FAILED, reason=reason
        )  # fmt: skip
    return failed


def delete_old(now: datetime) -> int:
    return Estimate.objects.filter(created_at__lt=now - KEPT_FOR).delete()[0]
