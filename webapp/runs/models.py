"""Runs and their snapshots: what was asked for, what arrived, and the trees made of it."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.files.storage import default_storage
from django.db import models
from django.db.models import Q
from django.utils import timezone

from tracer import protocol
from webapp.hosts.models import Host
from webapp.teams.models import Project, User

_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"  # no letters that are read as others


def new_run_id() -> str:
    return "r-" + "".join(secrets.choice(_ALPHABET) for _ in range(10))


class State(models.TextChoices):
    QUEUED = "queued"
    CLAIMED = "claimed"
    RECORDING = "recording"
    INGESTING = "ingesting"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"


ACTIVE = [State.QUEUED, State.CLAIMED, State.RECORDING, State.INGESTING]
WITH_AGENT = [State.CLAIMED, State.RECORDING]


class RunQuerySet(models.QuerySet["Run"]):
    def visible_to(self, user: User | AnonymousUser) -> RunQuerySet:
        """Runs of the user's projects, and the user's own previews. Every page and API query goes through here."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(
            Q(project__in=Project.objects.visible_to(user)) | Q(project__isnull=True, created_by=user)
        )

    def overdue(self, now: datetime) -> RunQuerySet:
        """Claimed runs whose agent has been silent for longer than its lease."""
        return self.filter(state__in=WITH_AGENT, lease_expires_at__lt=now)

    def expired_previews(self, now: datetime) -> RunQuerySet:
        return self.filter(project__isnull=True, preview_until__lt=now)

    def move(self, pk: int, *, old: list[State] | State, **fields: Any) -> bool:
        """Compare-and-set of the state: True for the one caller that moved it."""
        states = [old] if isinstance(old, State) else old
        fields.setdefault("changed_at", timezone.now())
        return self.filter(pk=pk, state__in=states).update(**fields) == 1


class Run(models.Model):
    """One recording or one upload. `project` is empty for a private preview."""

    run_id = models.CharField(max_length=16, unique=True, default=new_run_id)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs", null=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    preview_until = models.DateTimeField(null=True)

    service = models.CharField(max_length=100, default="", blank=True)
    deploy = models.CharField(max_length=100, default="", blank=True)
    collector = models.CharField(max_length=40)  # of protocol.COLLECTORS, or the format of an upload
    title = models.CharField(max_length=200, default="")  # what the file or process was called
    labels = models.JSONField(default=dict)  # as shown; RunLabel has them for filtering

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    reason = models.CharField(max_length=500, default="")  # why failed or cancelled
    changed_at = models.DateTimeField(default=timezone.now)

    # recordings
    host = models.ForeignKey(Host, on_delete=models.SET_NULL, null=True, related_name="runs")
    host_name = models.CharField(max_length=100, default="")
    spec = models.JSONField(default=dict)  # protocol.RunSpec.to_dict(); {} for uploads
    attempt = models.CharField(max_length=32, default="")  # the agent's claim: only its posts are taken
    lease_expires_at = models.DateTimeField(null=True)
    stop_requested = models.CharField(max_length=6, default="")  # "", "stop" (and keep) or "cancel"
    started_at = models.DateTimeField(null=True)  # first event counted ("attached"), or the moment of an upload
    ended_at = models.DateTimeField(null=True)
    elapsed_s = models.FloatField(default=0)
    events = models.BigIntegerField(default=0)
    lost = models.JSONField(default=dict)  # {cause: count}
    probes_left = models.BooleanField(default=False)

    # results, of the snapshot shown by default (the last)
    value_type = models.CharField(max_length=200, default="")
    unit = models.CharField(max_length=40, default="")
    total = models.FloatField(null=True)
    snapshot_count = models.IntegerField(default=0)
    expected_snapshots = models.IntegerField(default=1)

    objects = RunQuerySet.as_manager()

    class Meta:
        indexes = [
            # The dashboard pages by (created_at, id), newest first, and filters by one of these.
            models.Index(fields=["project", "-created_at", "-id"], name="run_page"),
            models.Index(fields=["project", "service", "-created_at", "-id"], name="run_service"),
            models.Index(fields=["project", "state", "-created_at", "-id"], name="run_state"),
            models.Index(fields=["project", "collector", "-created_at", "-id"], name="run_collector"),
            models.Index(fields=["project", "host_name", "-created_at", "-id"], name="run_host"),
            models.Index(fields=["project", "deploy", "-created_at", "-id"], name="run_deploy"),
            models.Index(fields=["state", "lease_expires_at"], name="run_lease"),
        ]

    def __str__(self) -> str:
        return self.run_id

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def duration_s(self) -> float:
        return float(self.spec.get("duration_s", 0))

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=protocol.LEASE_S)


class RunLabel(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="label_rows")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True)
    key = models.CharField(max_length=60)
    value = models.CharField(max_length=200)

    class Meta:
        indexes = [models.Index(fields=["project", "key", "value", "-run"], name="label_filter")]
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="one_value_a_label")]


class Snapshot(models.Model):
    """One moment of a run. `received` keeps the bytes as they came; the tree is a revision of them."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="snapshots")
    seq = models.IntegerField()  # 1..n
    elapsed_s = models.FloatField(default=0)
    received = models.CharField(max_length=200)  # storage name
    received_encoding = models.CharField(max_length=10, default="")  # Content-Encoding as it came
    received_sha256 = models.CharField(max_length=64)
    received_bytes = models.BigIntegerField(default=0)
    received_at = models.DateTimeField(default=timezone.now)

    format = models.CharField(max_length=40, default="")
    capture = models.JSONField(default=dict)  # protocol.CAPTURE_KEYS
    error = models.CharField(max_length=500, default="")  # why it could not be read
    ingested_at = models.DateTimeField(null=True)

    # the current revision
    revision = models.IntegerField(default=0)  # 0: not ingested yet
    tree = models.CharField(max_length=200, default="")  # storage name of the packed tree
    value_types = models.JSONField(default=list)  # [{name, unit, kind, meaning, is_signed, is_float, total}]
    nodes = models.IntegerField(default=0)
    stacks = models.IntegerField(default=0)
    skipped_lines = models.IntegerField(default=0)
    skipped = models.JSONField(default=list)  # [[number, text, reason]], the first 20

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="one_snapshot_a_seq")]
        ordering = ["seq"]

    def total_of(self, value_type: str) -> float | int | None:
        return next((row["total"] for row in self.value_types if row["name"] == value_type), None)

    def delete_files(self) -> None:
        for name in (self.received, self.tree, *self.payloads.values_list("file", flat=True)):
            if name:
                default_storage.delete(name)


class Payload(models.Model):
    """What the viewer fetches for one value type of one revision: immutable, compressed once."""

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="payloads")
    revision = models.IntegerField()
    value_type = models.CharField(max_length=200)
    overview = models.BinaryField()  # gzip of an FGB2 payload: small, so kept in the row
    overview_is_full = models.BooleanField(default=False)  # nothing was pruned: no second fetch
    file = models.CharField(max_length=200, default="")  # storage name of the gzip of the full payload
    content_hash = models.CharField(max_length=16)  # of the full payload; part of the URL

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["snapshot", "revision", "value_type"], name="one_payload_a_value_type")
        ]
