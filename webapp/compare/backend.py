"""Two stored trees to the payload of their difference: merged once, kept while it is used."""

from __future__ import annotations

import threading

import numpy as np

from tracer.profile import tree
from tracer.profile.tree import payload
from webapp.compare.models import DiffPayload, key_of
from webapp.compare.sides import Side
from webapp.compare.table import table_of
from webapp.flamegraph import cached

FOLDER = "differences"
KEPT = 500  # differences; the largest take about 4 MB each

# Merging two trees of 4 M nodes takes about 1 GB for 3 s: one at a time in a process.
_merging = threading.Lock()


def diff_payload(before: Side, after: Side, value_type: str) -> DiffPayload:
    """The difference of two snapshots in one value type, which both must have."""
    found = known_diff(before, after, value_type)
    if found is not None:
        return found
    with _merging:
        return known_diff(before, after, value_type) or _merge(before, after, value_type)


def known_diff(before: Side, after: Side, value_type: str) -> DiffPayload | None:
    """What was merged before, if it is still whole."""
    row = DiffPayload.objects.of(before, after, value_type).defer("overview").first()
    if row is None:
        return None
    if not row.is_whole or not row.table:  # an older site merged without a table
        row.delete()
        return None
    cached.note_use(row)
    return row


def _merge(before: Side, after: Side, value_type: str) -> DiffPayload:
    diff = tree.merge(before.tree(value_type), after.tree(value_type), value_type)
    first = payload.encode_diff(diff, overview=True)
    whole = first if first.is_full else payload.encode_diff(diff, overview=False)
    row, _ = DiffPayload.objects.get_or_create(
        **key_of(before, after, value_type),
        defaults={
            **cached.kept_fields(first, whole, f"{FOLDER}/{before.snapshot.pk}-{after.snapshot.pk}"),
            "nodes": len(diff.tree),
            "common_nodes": _common_nodes(diff),
            "table": table_of(diff),
        },
    )
    forget_unused()
    return row


def _common_nodes(diff: tree.DiffTree) -> int:
    """Nodes below the root that both sides have a value under."""
    return int(np.count_nonzero((diff.tree.widths(0)[1:] > 0) & (diff.tree.widths(1)[1:] > 0)))


def forget_unused() -> None:
    """Drop the longest unused differences, and files whose row went with a snapshot."""
    cached.forget_unused(DiffPayload, FOLDER, KEPT)
