"""Runs and their snapshots: what was asked for, what arrived, and the trees made of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from tracer import prices, protocol
from webapp.hosts.models import Host
from webapp.runs.ids import new_estimate_id, new_run_id
from webapp.runs.tags import payload_tag
from webapp.runs.targets import target_words
from webapp.teams.models import ApiToken, Project, User, Viewer


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
    def visible_to(self, viewer: Viewer) -> RunQuerySet:
        """Runs of the viewer's projects, and the user's own previews. Every page and API query goes through here."""
        if isinstance(viewer, ApiToken):
            return self.filter(project=viewer.project_id)
        if not viewer.is_authenticated:
            return self.none()
        return self.filter(
            Q(project__in=Project.objects.visible_to(viewer)) | Q(project__isnull=True, created_by=viewer)
        )

    def for_view(self) -> RunQuerySet:
        """With all that RunView reads of other tables."""
        return self.select_related("project", "created_by", "host")

    def overdue(self, now: datetime) -> RunQuerySet:
        """Claimed runs whose agent has been silent for longer than its lease."""
        return self.filter(state__in=WITH_AGENT, lease_expires_at__lt=now)

    def incomplete_since(self, before: datetime) -> RunQuerySet:
        """Runs that still wait for snapshots to arrive; what has arrived is read."""
        unread = Snapshot.objects.waiting().filter(run=OuterRef("pk"))
        return self.filter(~Exists(unread), state=State.INGESTING, changed_at__lt=before)

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

    upload_key = models.CharField(max_length=100, null=True)  # Idempotency-Key of an upload; its retries find this run

    upload_files = models.IntegerField(default=0)  # of an upload, how many make it up; 0: it is recorded

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    reason = models.CharField(max_length=500, default="")  # why it failed, was cancelled, or ended before its time
    changed_at = models.DateTimeField(default=timezone.now)

    # recordings
    host = models.ForeignKey(Host, on_delete=models.SET_NULL, null=True, related_name="runs")
    host_name = models.CharField(max_length=100, default="")
    command = models.CharField(max_length=300, default="")  # of the target
    spec = models.JSONField(default=dict)  # protocol.RunSpec.to_dict(); {"pushed": …} of a service, {} for uploads
    attempt = models.CharField(max_length=32, default="")  # the agent's claim: only its posts are taken
    lease_expires_at = models.DateTimeField(null=True)
    stop_requested = models.CharField(max_length=6, default="")  # "", "stop" (and keep) or "cancel"
    started_at = models.DateTimeField(null=True)  # first event counted ("attached"), or the moment of an upload
    ended_at = models.DateTimeField(null=True)
    elapsed_s = models.FloatField(default=0)
    events = models.BigIntegerField(default=0)
    lost = models.JSONField(default=dict)  # {cause: count}
    probes_left = models.BooleanField(default=False)

    shown_seq = models.IntegerField(default=0)  # the snapshot shown by default; 0: the last
    # results, of the snapshot shown by default
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
            # The sweep and the agents' polls.
            models.Index(fields=["state", "lease_expires_at"], name="run_lease"),
            models.Index(fields=["host", "state", "created_at"], name="run_queue"),
            models.Index(fields=["preview_until"], name="run_preview", condition=Q(project=None)),
        ]
        constraints = [models.UniqueConstraint(fields=["project", "upload_key"], name="one_run_an_upload_key")]

    def __str__(self) -> str:
        return self.run_id

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def is_pushed(self) -> bool:
        """A service pushes its snapshots, as agents of Pyroscope do."""
        return "pushed" in self.spec

    @property
    def is_open(self) -> bool:
        """More snapshots may come; of a pushed run until its service is silent, which ends its lease."""
        return self.is_active or (self.is_pushed and self.lease_expires_at is not None)

    @property
    def pid(self) -> int | None:
        pid: int | None = self.spec.get("pid")
        return pid

    @property
    def target_words(self) -> str:
        return target_words(self.spec)

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


class SnapshotQuerySet(models.QuerySet["Snapshot"]):
    def waiting(self) -> SnapshotQuerySet:
        """Arrived, and neither read nor refused yet."""
        return self.filter(ingested_at=None)

    def claimable(self, now: datetime) -> SnapshotQuerySet:
        """Waiting ones that no living ingest worker has in hand."""
        return self.waiting().filter(Q(ingest_claimed_at=None) | Q(ingest_claimed_at__lt=now - Snapshot.INGEST_LEASE))

    def held(self, claimed: Snapshot) -> SnapshotQuerySet:
        """The one that a worker claimed, while it is still that worker's: each claim is another attempt."""
        return self.waiting().filter(pk=claimed.pk, ingest_attempts=claimed.ingest_attempts)

    def made_files(self) -> list[str]:
        """What the storage holds that was made of what arrived."""
        payloads = Payload.objects.filter(snapshot__in=self)
        trees = [name for snapshot in self.select_related("run") for name in snapshot.trees()]
        names = [*trees, *payloads.values_list("file", flat=True)]
        return [name for name in names if name]


class Snapshot(models.Model):
    """One moment of a run. `received` keeps the bytes as they came; the tree is a revision of them."""

    INGEST_LEASE = timedelta(seconds=30)
    THINNED_ENDING = ".thin"  # of the name of a tree that was pruned to its overview

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="snapshots")
    seq = models.IntegerField()  # 1..n
    elapsed_s = models.FloatField(default=0)
    label = models.CharField(max_length=200, default="")  # what its file calls this moment, or the file's own name
    # Storage name; the snapshots made of the moments of one file share it, the first has its size.
    received = models.CharField(max_length=200)
    moment = models.IntegerField(default=0)  # which of those in the file, 1..n; 0: the one shown by default
    received_encoding = models.CharField(max_length=10, default="")  # Content-Encoding as it came
    received_sha256 = models.CharField(max_length=64)
    received_bytes = models.BigIntegerField(default=0)
    received_at = models.DateTimeField(default=timezone.now)

    format = models.CharField(max_length=40, default="")
    capture = models.JSONField(default=dict)  # protocol.CAPTURE_KEYS
    # The ingest worker's claim, renewed while it reads: one that died is taken over, a few times.
    ingest_claimed_at = models.DateTimeField(null=True)
    ingest_attempts = models.IntegerField(default=0)
    ingested_at = models.DateTimeField(null=True)  # read, or refused with an error
    error = models.CharField(max_length=500, default="")  # why it could not be read
    is_over_limit = models.BooleanField(default=False)  # the error is a passed limit

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
        indexes = [models.Index(fields=["received_at"], name="snapshot_waiting", condition=Q(ingested_at=None))]
        ordering = ["seq"]

    objects = SnapshotQuerySet.as_manager()

    def total_of(self, value_type: str) -> float | int | None:
        return next((row["total"] for row in self.value_types if row["name"] == value_type), None)

    @property
    def has_whole_tree(self) -> bool:
        return not self.tree.endswith(self.THINNED_ENDING)

    def file_names(self) -> list[str]:
        """All that the storage holds of it; what arrived may be other snapshots' too."""
        made = Snapshot.objects.filter(pk=self.pk).made_files()
        return [self.received, *made] if self.received else made

    def trees(self) -> list[str]:
        """Of the current revision, and of the one before, which a page may be reading still."""
        return [self.tree, self.tree_name(self.revision - 1)] if self.revision > 1 else [self.tree]

    def tree_name(self, revision: int) -> str:
        """Where the storage has the tree of that revision, if it has it."""
        return f"trees/{self.run.run_id}/{self.seq:04d}-{revision}.tree"


class Payload(models.Model):
    """What the viewer fetches for one value type of one revision: immutable, compressed once."""

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="payloads")
    revision = models.IntegerField()
    value_type = models.CharField(max_length=200)
    overview = models.BinaryField()  # gzip of an FGB2 payload: small, so kept in the row
    overview_is_full = models.BooleanField(default=False)  # nothing was pruned: no second fetch
    file = models.CharField(max_length=200, default="")  # storage name of the gzip of the full payload
    content_hash = models.CharField(max_length=16)  # of the full payload; part of the URL
    functions = models.JSONField(default=dict)  # functions.tables(), for the page without script; {} in old rows

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["snapshot", "revision", "value_type"], name="one_payload_a_value_type")
        ]

    @property
    def tag(self) -> str:
        return payload_tag(self.revision, self.content_hash)


class UnnamedModule(models.Model):
    """A file that frames of a snapshot, as it came, have no names of: what files of symbols are matched with.

    `due_at` is set when such a file comes or goes; the worker that takes the snapshot moves it to when another may.
    """

    NAMING_LEASE = timedelta(minutes=10)
    MAX_ATTEMPTS = 3

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="unnamed_modules")
    module = models.CharField(max_length=300)  # as the frames have it
    build_id = models.CharField(max_length=128, blank=True)  # empty: the source does not tell
    is_told = models.BooleanField()  # else it may as well be a function, with an offset in it
    share = models.FloatField()  # of the default value type, of stacks through its places; 0 to 1
    left = models.FloatField()  # the same of those that still have no name
    used = models.CharField(max_length=50, blank=True)  # Match.key of the files that gave names
    due_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)  # since it became due

    class Meta:
        constraints = [models.UniqueConstraint(fields=["snapshot", "module"], name="one_row_a_module")]
        indexes = [
            models.Index(fields=["build_id"], name="unnamed_build_id"),
            models.Index(fields=["module"], name="unnamed_module"),
            models.Index(fields=["due_at"], name="unnamed_due", condition=~Q(due_at=None)),
        ]


class EstimateQuerySet(models.QuerySet["Estimate"]):
    def visible_to(self, viewer: Viewer) -> EstimateQuerySet:
        """Estimates of the viewer's projects."""
        if isinstance(viewer, ApiToken):
            return self.filter(project=viewer.project_id)
        if not viewer.is_authenticated:
            return self.none()
        return self.filter(project__in=Project.objects.visible_to(viewer))

    def unfinished(self) -> EstimateQuerySet:
        return self.filter(state__in=UNESTIMATED)

    def overdue(self, now: datetime) -> EstimateQuerySet:
        """No agent took it in time, or the one that did is silent."""
        return self.unfinished().filter(due_at__lt=now)


class EstimateState(models.TextChoices):
    QUEUED = "queued"
    CLAIMED = "claimed"
    READY = "ready"
    FAILED = "failed"


UNESTIMATED = [EstimateState.QUEUED, EstimateState.CLAIMED]


class Estimate(models.Model):
    """What recording a process would cost, asked of its host's agent; kept for a day."""

    DUE_AFTER = timedelta(seconds=30)  # each for being taken and for being counted: an agent asks every few seconds

    estimate_id = models.CharField(max_length=16, unique=True, default=new_estimate_id)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="estimates")
    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="estimates")
    asked_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    pid = models.IntegerField()
    start_time = models.BigIntegerField(default=0)
    command = models.CharField(max_length=300, default="")

    state = models.CharField(max_length=10, choices=EstimateState.choices, default=EstimateState.QUEUED)
    attempt = models.CharField(max_length=32, default="")  # the agent's claim: only its post is taken
    due_at = models.DateTimeField()
    reason = models.CharField(max_length=500, default="")  # why it failed
    result = models.JSONField(default=dict)  # tracer.prices.Estimate.to_dict()

    objects = EstimateQuerySet.as_manager()

    class Meta:
        constraints = [
            # Counting costs the host something, and two at once would count each other.
            models.UniqueConstraint(fields=["host"], condition=Q(state__in=UNESTIMATED), name="one_estimate_a_host")
        ]
        indexes = [models.Index(fields=["created_at"], name="estimate_age")]

    def __str__(self) -> str:
        return self.estimate_id

    @property
    def is_waiting(self) -> bool:
        return self.state in UNESTIMATED

    @property
    def found(self) -> prices.Estimate:
        """Of a ready one."""
        return prices.Estimate.from_dict(self.result)


class Worker(models.Model):
    """A background process and when it last said that it lives; `/readyz` looks here."""

    name = models.CharField(max_length=20, primary_key=True)  # "ingest", "sweep"
    seen_at = models.DateTimeField()

    @classmethod
    def touch(cls, name: str) -> None:
        cls.objects.update_or_create(name=name, defaults={"seen_at": timezone.now()})
