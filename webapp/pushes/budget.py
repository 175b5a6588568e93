"""What one project may push; each refusal names the limit and the value, and when to come back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from webapp.errors import ApiError
from webapp.pushes.models import Push, RollingRun
from webapp.teams.models import Project

HOUR = timedelta(hours=1)


class OverBudget(ApiError):
    """429, with Retry-After."""

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(429, message)
        self.retry_after_s = max(1, math.ceil(retry_after_s))


@dataclass(frozen=True, slots=True)
class Used:
    """What a project has of each limit."""

    instances: int
    snapshots: int  # of the last hour
    nodes: int  # of whole trees


def used(project: Project, now: datetime) -> Used:
    pushes = Push.objects.filter(project=project)
    return Used(
        instances=RollingRun.objects.open(now).filter(project=project).instances(),
        snapshots=pushes.filter(received_at__gt=now - HOUR).count(),
        nodes=pushes.filter(thinned_at=None).nodes(),
    )


def check_snapshots(project: Project, now: datetime) -> None:
    pushes = Push.objects.filter(project=project, received_at__gt=now - HOUR)
    count, limit = pushes.count(), settings.PUSH_SNAPSHOTS_AN_HOUR
    if count < limit:
        return
    oldest = pushes.order_by("received_at").values_list("received_at", flat=True).first() or now
    message = f"{project.slug} has pushed {count:,} snapshots in the last hour, the limit is {limit:,}."
    raise OverBudget(message, (oldest + HOUR - now).total_seconds())


def check_instances(project: Project, now: datetime) -> None:
    """Before a run of a new series begins."""
    found = RollingRun.objects.open(now).filter(project=project)
    count, limit = found.instances(), settings.PUSH_INSTANCES
    if count < limit:
        return
    frees_at = found.order_by("run__lease_expires_at").values_list("run__lease_expires_at", flat=True).first() or now
    message = f"{project.slug} has {count:,} instances that push, the limit is {limit:,}; one must fall silent first."
    raise OverBudget(message, (frees_at - now).total_seconds())
