"""Differences that were asked for: two snapshots merged once, kept as the viewer's payload."""

from __future__ import annotations

from django.db import models

from webapp.flamegraph.cached import CachedPayload
from webapp.runs.models import Snapshot


class DiffPayloadQuerySet(models.QuerySet["DiffPayload"]):
    def of(self, before: Snapshot, after: Snapshot, value_type: str) -> DiffPayloadQuerySet:
        """Of the current revisions of both."""
        return self.filter(
            before=before,
            after=after,
            before_revision=before.revision,
            after_revision=after.revision,
            value_type=value_type,
        )


class DiffPayload(CachedPayload):
    before = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="+")
    after = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="+")
    before_revision = models.IntegerField()
    after_revision = models.IntegerField()
    value_type = models.CharField(max_length=200)

    nodes = models.IntegerField()  # of the union
    common_nodes = models.IntegerField()  # with a value on both sides
    table = models.JSONField(default=dict)  # table.table_of(), for the page without script

    objects = DiffPayloadQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["before", "after", "before_revision", "after_revision", "value_type"], name="one_diff_a_pair"
            )
        ]
        indexes = [models.Index(fields=["-used_at"], name="diff_used")]

    @property
    def tag(self) -> str:
        """Part of the payload's address: other revisions or other bytes have another address."""
        return f"{self.before_revision}-{self.after_revision}-{self.content_hash}"
