"""Intervals that were asked for: what a flow was between two snapshots of a run, kept as the viewer's payload."""

from __future__ import annotations

from django.db import models

from webapp.flamegraph.cached import CachedPayload
from webapp.runs.models import Snapshot


class IntervalPayload(CachedPayload):
    since = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="+")
    until = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="+")
    since_revision = models.IntegerField()
    until_revision = models.IntegerField()
    value_type = models.CharField(max_length=200)

    nodes = models.IntegerField()
    total = models.JSONField()  # int, or float where the value type is
    is_signed = models.BooleanField()
    negative = models.JSONField(
        default=list
    )  # [frames, amount] below zero where the type has none: estimates that shrank
    functions = models.JSONField(default=dict)  # functions.tables(), for the page without script

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["since", "until", "since_revision", "until_revision", "value_type"], name="one_interval_a_pair"
            )
        ]
        indexes = [models.Index(fields=["-used_at"], name="interval_used")]

    @property
    def tag(self) -> str:
        """Part of the payload's address: other revisions or other bytes have another address."""
        return f"{self.since_revision}-{self.until_revision}-{self.content_hash}"
