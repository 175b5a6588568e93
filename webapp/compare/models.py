"""Differences that were asked for: two snapshots merged once, kept as the viewer's payload."""

from __future__ import annotations

from typing import Any

from django.db import models

from webapp.compare.sides import Side
from webapp.flamegraph.cached import CachedPayload
from webapp.runs.models import Snapshot


class DiffPayloadQuerySet(models.QuerySet["DiffPayload"]):
    def of(self, before: Side, after: Side, value_type: str) -> DiffPayloadQuerySet:
        """Of the current revisions of both."""
        return self.filter(**key_of(before, after, value_type))


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

    nodes = models.IntegerField()  # of the union
    common_nodes = models.IntegerField()  # with a value on both sides
    table = models.JSONField(default=dict)  # table.table_of(), for the page without script

    objects = DiffPayloadQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["before", "after", "before_revision", "after_revision", "since", "value_type"],
                name="one_diff_a_pair",
            )
        ]
        indexes = [models.Index(fields=["-used_at"], name="diff_used")]

    @property
    def tag(self) -> str:
        """Part of the payload's address: other revisions or other bytes have another address."""
        return f"{self.before_revision}-{self.after_revision}-{self.content_hash}"
