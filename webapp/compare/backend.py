"""Two stored trees to the payload of their difference: merged once, kept while it is used."""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from tracer.profile import tree
from tracer.profile.alignment import AS_NAMED, Alignment
from tracer.profile.tree import payload
from webapp.compare.models import DiffPayload, key_of, rules_hash
from webapp.compare.sides import Side
from webapp.compare.table import table_of
from webapp.flamegraph import cached

FOLDER = "differences"
KEPT = 500  # differences; the largest take about 4 MB each

# Merging two trees of 4 M nodes takes about 1 GB for 3 s: one at a time in a process.
_merging = threading.Lock()


def diff_payload(before: Side, after: Side, value_type: str, alignment: Alignment = AS_NAMED) -> DiffPayload:
    """The difference of two snapshots in one value type, which both must have."""
    found = known_diff(before, after, value_type, alignment)
    if found is not None:
        return found
    with _merging:
        return known_diff(before, after, value_type, alignment) or _merge(before, after, value_type, alignment)


def diff_with_table(before: Side, after: Side, value_type: str, alignment: Alignment = AS_NAMED) -> DiffPayload:
    """The same with the table of the page without script, which takes as long again as the merge."""
    row = diff_payload(before, after, value_type, alignment)
    if not row.table:
        old, new = (tree.aligned(side.tree(value_type), alignment) for side in (before, after))
        with _merging:
            row.table = table_of(tree.merge(old, new, value_type))
            row.save(update_fields=["table"])
    return row


def known_diff(before: Side, after: Side, value_type: str, alignment: Alignment = AS_NAMED) -> DiffPayload | None:
    """What was merged before, if it is still whole."""
    row = DiffPayload.objects.of(before, after, value_type, alignment.text).defer("overview", "table").first()
    if row is None:
        return None
    if not row.is_whole or not row.matched:  # an older site did not count what matched
        row.delete()
        return None
    cached.note_use(row)
    return row


def _merge(before: Side, after: Side, value_type: str, alignment: Alignment) -> DiffPayload:
    trees = before.tree(value_type), after.tree(value_type)
    diff = tree.merge(tree.aligned(trees[0], alignment), tree.aligned(trees[1], alignment), value_type)
    is_common = _is_common(diff)
    first = payload.encode_diff(diff, overview=True)
    whole = first if first.is_full else payload.encode_diff(diff, overview=False)
    row, _ = DiffPayload.objects.get_or_create(
        **key_of(before, after, value_type),
        rules_hash=rules_hash(alignment.text),
        defaults={
            **cached.kept_fields(first, whole, f"{FOLDER}/{before.snapshot.pk}-{after.snapshot.pk}"),
            "nodes": len(diff.tree),
            "common_nodes": int(np.count_nonzero(is_common[1:])),
            "matched": [np.abs(side[is_common]).sum().item() for side in diff.tree.selfs],
            "renamed": sum(name != alignment.name_of(name) for name in {*trees[0].names, *trees[1].names}),
        },
    )
    forget_unused()
    return row


def _is_common(diff: tree.DiffTree) -> npt.NDArray[np.bool_]:
    """Nodes that both sides have a value under."""
    return (diff.tree.widths(0) > 0) & (diff.tree.widths(1) > 0)


def forget_unused() -> None:
    """Drop the longest unused differences, and files whose row went with a snapshot."""
    cached.forget_unused(DiffPayload, FOLDER, KEPT)
