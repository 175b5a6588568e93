"""Differences that were asked for, kept as the viewer's payload, and how a project's runs are aligned."""

from __future__ import annotations

from typing import Any

import xxhash
from django.db import models

from webapp.compare.sides import Side
from webapp.flamegraph.cached import CachedPayload
from webapp.runs.models import Snapshot
from webapp.teams.models import Project

RULES_CHARACTERS = 20_000  # of the text of an alignment: 20 patterns of 500 characters and what takes their place


def rules_hash(rules: str) -> str:
    """Empty for no rules."""
    return xxhash.xxh3_128_hexdigest(rules.encode()) if rules else ""


class DiffPayloadQuerySet(models.QuerySet["DiffPayload"]):
    def of(self, before: Side, after: Side, value_type: str, rules: str) -> DiffPayloadQuerySet:
        """Of the current revisions of both; `rules` is the text of an alignment."""
        return self.filter(**key_of(before, after, value_type), rules_hash=rules_hash(rules))


def key_of(before: Side, after: Side, value_type: str) -> dict[str, Any]:
    return {
        "before": before.snapshot,
        "after": after.snapshot,
        "before_revision": before.snapshot.revision,
        "after_revision": after.snapshot.revision,
        "since": "/".join([before.since, after.since]) if before.since or after.since else "",
        "value_type": value_type,
    }


class DiffPayload(CachedPayload):
    before = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="+")
    after = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="+")
    before_revision = models.IntegerField()
    after_revision = models.IntegerField()
    since = models.CharField(max_length=60, default="", blank=True)  # where sides that are intervals begin
    value_type = models.CharField(max_length=200)
    rules_hash = models.CharField(max_length=32, default="")  # rules_hash() of the alignment

    nodes = models.IntegerField()  # of the union
    common_nodes = models.IntegerField()  # with a value on both sides
    matched = models.JSONField(default=list)  # [before, after]: amounts of stacks whose path is on both sides
    renamed = models.IntegerField(default=0)  # names that the alignment changed
    table = models.JSONField(default=dict)  # table.table_of(), once a page without script asked for it

    objects = DiffPayloadQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["before", "after", "before_revision", "after_revision", "since", "value_type", "rules_hash"],
                name="one_diff_a_pair",
            )
        ]
        indexes = [models.Index(fields=["-used_at"], name="diff_used")]

    @property
    def tag(self) -> str:
        """Part of the payload's address: other revisions or other bytes have another address."""
        return f"{self.before_revision}-{self.after_revision}-{self.content_hash}"


class ProjectAlignment(models.Model):
    """What comparisons of a project's runs are aligned by where the address says nothing else."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="alignment")
    rules = models.TextField(max_length=RULES_CHARACTERS)  # tracer.profile.alignment.Alignment.text
