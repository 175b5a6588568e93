"""Rolling runs and what was pushed into them: which series a run is of, and which pushes it has already."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import F, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from webapp.runs.models import Run, Snapshot, State
from webapp.teams.models import Project


class RollingRunQuerySet(models.QuerySet["RollingRun"]):
    def open(self, now: datetime) -> RollingRunQuerySet:
        """Those that take another snapshot: not silent for too long, not cancelled."""
        return self.filter(run__lease_expires_at__gt=now).exclude(run__state=State.CANCELLED)

    def instances(self) -> int:
        """How many series; at midnight one may have two runs for a while."""
        return self.values("series").distinct().count()

    def silent(self, now: datetime) -> RollingRunQuerySet:
        """Open so far, and nothing was pushed for too long."""
        return self.filter(run__lease_expires_at__lte=now)


class RollingRun(models.Model):
    """A run that grows with each push of one series: a service, its instance and all other labels."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="rolling")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    series = models.CharField(max_length=64)  # SHA-256 of all labels
    day = models.DateField()  # in UTC
    part = models.IntegerField(default=1)  # 1..n of that day: after a silence, or when a run is full
    last_seq = models.IntegerField(default=0)
    last_push_at = models.DateTimeField(default=timezone.now)
    thinned = models.IntegerField(default=0)  # snapshots

    objects = RollingRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "series", "day", "part"], name="one_run_a_series_and_part")
        ]
        indexes = [models.Index(fields=["project", "-last_push_at"], name="rolling_page")]

    def __str__(self) -> str:
        return self.run.run_id


class PushQuerySet(models.QuerySet["Push"]):
    def whole(self) -> PushQuerySet:
        """Read, with its whole tree, and not the newest of its run."""
        read = self.filter(thinned_at=None, snapshot__ingested_at__isnull=False)
        return read.filter(snapshot__seq__lt=F("rolling__last_seq"))

    def nodes(self) -> int:
        return int(self.aggregate(nodes=Coalesce(Sum("snapshot__nodes"), 0))["nodes"])


class Push(models.Model):
    """One profile that arrived; a retry of it has the same key."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    rolling = models.ForeignKey(RollingRun, on_delete=models.CASCADE, related_name="pushes")
    snapshot = models.OneToOneField(Snapshot, on_delete=models.CASCADE, related_name="push")
    key = models.CharField(max_length=64)  # SHA-256 of series, interval and bytes
    received_at = models.DateTimeField(default=timezone.now)
    thinned_at = models.DateTimeField(null=True)

    objects = PushQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="one_push_a_key")]
        indexes = [
            models.Index(fields=["project", "received_at"], name="push_hour"),
            models.Index(fields=["received_at"], name="push_whole", condition=models.Q(thinned_at=None)),
        ]


class IgnoredPushes(models.Model):
    """How many profiles of a kind that is not about memory came on a day: taken with 200, and not kept."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()  # in UTC
    kind = models.CharField(max_length=60)  # process_cpu, goroutine, …
    count = models.IntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "day", "kind"], name="one_count_a_kind")]

    @classmethod
    def count_one(cls, project: Project, kind: str, now: datetime) -> None:
        row, _ = cls.objects.get_or_create(project=project, day=now.date(), kind=kind[:60])
        cls.objects.filter(pk=row.pk).update(count=F("count") + 1)
