"""Differences that were asked for, kept as the viewer's payload, and how a project's runs are aligned."""

from __future__ import annotations

import xxhash
from django.core.files.storage import default_storage
from django.db import models
from django.utils import timezone

from webapp.runs.models import Snapshot
from webapp.teams.models import Project

RULES_CHARACTERS = 20_000  # of the text of an alignment: 20 patterns of 500 characters and what takes their place


def rules_hash(rules: str) -> str:
    """Empty for no rules."""
    return xxhash.xxh3_128_hexdigest(rules.encode()) if rules else ""


class DiffPayloadQuerySet(models.QuerySet["DiffPayload"]):
    def of(self, before: Snapshot, after: Snapshot, value_type: str, rules: str) -> DiffPayloadQuerySet:
        """Of the current revisions of both; `rules` is the text of an alignment."""
        return self.filter(
            before=before,
            after=after,
            before_revision=before.revision,
            after_revision=after.revision,
            value_type=value_type,
            rules_hash=rules_hash(rules),
        )

    def longest_unused(self, kept: int) -> DiffPayloadQuerySet:
        """All but the `kept` that were used last."""
        newest = self.order_by("-used_at", "-pk").values("pk")[:kept]
        return self.exclude(pk__in=list(newest.values_list("pk", flat=True)))


class DiffPayload(models.Model):
    """A cache: it can be made again from both trees at any time, and goes with either snapshot."""

    before = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="+")
    after = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="+")
    before_revision = models.IntegerField()
    after_revision = models.IntegerField()
    value_type = models.CharField(max_length=200)
    rules_hash = models.CharField(max_length=32, default="")  # rules_hash() of the alignment

    overview = models.BinaryField()  # gzip of an FGB2 payload
    overview_is_full = models.BooleanField(default=False)
    file = models.CharField(max_length=200, default="")  # storage name of the gzip of the full payload
    content_hash = models.CharField(max_length=16)
    nodes = models.IntegerField()  # of the union
    common_nodes = models.IntegerField()  # with a value on both sides
    matched = models.JSONField(default=list)  # [before, after]: amounts of stacks whose path is on both sides
    renamed = models.IntegerField(default=0)  # names that the alignment changed
    table = models.JSONField(default=dict)  # table.table_of(), once a page without script asked for it
    used_at = models.DateTimeField(default=timezone.now)

    objects = DiffPayloadQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["before", "after", "before_revision", "after_revision", "value_type", "rules_hash"],
                name="one_diff_a_pair",
            )
        ]
        indexes = [models.Index(fields=["-used_at"], name="diff_used")]

    @property
    def tag(self) -> str:
        """Part of the payload's address: other revisions or other bytes have another address."""
        return f"{self.before_revision}-{self.after_revision}-{self.content_hash}"

    @property
    def is_whole(self) -> bool:
        """Whether its file, if it has one, is still there."""
        return not self.file or default_storage.exists(self.file)


class ProjectAlignment(models.Model):
    """What comparisons of a project's runs are aligned by where the address says nothing else."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="alignment")
    rules = models.TextField(max_length=RULES_CHARACTERS)  # tracer.profile.alignment.Alignment.text
