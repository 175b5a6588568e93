"""Two stored trees to the payload of their difference: merged once, kept while it is used."""

from __future__ import annotations

import gzip
import threading
from datetime import timedelta

import numpy as np
import numpy.typing as npt
import xxhash
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from tracer.profile import tree
from tracer.profile.alignment import Alignment
from tracer.profile.tree import payload
from webapp.compare.models import DiffPayload, rules_hash
from webapp.compare.sides import Side
from webapp.compare.table import table_of
from webapp.flamegraph.exports import load_tree
from webapp.runs.models import Snapshot

FOLDER = "differences"
KEPT = 500  # differences; the largest take about 4 MB each
GZIP_LEVEL = 6
USED_AGAIN_AFTER = timedelta(minutes=1)  # a busy page does not write on every request
ORPHAN_AFTER = timedelta(hours=1)  # a file without a row may be one that is being stored

# Merging two trees of 4 M nodes takes about 1 GB for 3 s: one at a time in a process.
_merging = threading.Lock()


AS_NAMED = Alignment()


def diff_payload(before: Side, after: Side, value_type: str, alignment: Alignment = AS_NAMED) -> DiffPayload:
    """The difference of two snapshots in one value type, which both must have."""
    found = known_diff(before, after, value_type, alignment)
    if found is not None:
        return found
    with _merging:
        return known_diff(before, after, value_type, alignment) or _keep_diff(
            before.snapshot, after.snapshot, value_type, alignment
        )


def with_table(row: DiffPayload, alignment: Alignment) -> DiffPayload:
    """The same with the table of the page without script, which takes as long again as the merge."""
    if not row.table:
        before, after = (tree.aligned(load_tree(side), alignment) for side in (row.before, row.after))
        with _merging:
            row.table = table_of(tree.merge(before, after, row.value_type))
            row.save(update_fields=["table"])
    return row


def known_diff(before: Side, after: Side, value_type: str, alignment: Alignment = AS_NAMED) -> DiffPayload | None:
    """What was merged before, if it is still whole."""
    found = DiffPayload.objects.of(before.snapshot, after.snapshot, value_type, alignment.text)
    row = found.defer("overview").first()
    if row is None:
        return None
    if not row.is_whole or not row.matched:  # an older site did not count what matched
        row.delete()
        return None
    if timezone.now() - row.used_at > USED_AGAIN_AFTER:
        DiffPayload.objects.filter(pk=row.pk).update(used_at=timezone.now())
    return row


def packed(row: DiffPayload, stage: str) -> bytes:
    """The gzip payload of a stage."""
    if stage == "overview" or row.overview_is_full:
        return bytes(row.overview)
    with default_storage.open(row.file) as file:
        return bytes(file.read())


def _keep_diff(before: Snapshot, after: Snapshot, value_type: str, alignment: Alignment) -> DiffPayload:
    trees = load_tree(before), load_tree(after)
    diff = tree.merge(tree.aligned(trees[0], alignment), tree.aligned(trees[1], alignment), value_type)
    is_common = _is_common(diff)
    first = payload.encode_diff(diff, overview=True)
    whole = first if first.is_full else payload.encode_diff(diff, overview=False)
    content_hash = xxhash.xxh3_64_hexdigest(whole.data)
    row, _ = DiffPayload.objects.get_or_create(
        before=before,
        after=after,
        before_revision=before.revision,
        after_revision=after.revision,
        value_type=value_type,
        rules_hash=rules_hash(alignment.text),
        defaults={
            "overview": _gzip(first.data),
            "overview_is_full": first.is_full,
            "file": "" if first.is_full else _keep(f"{before.pk}-{after.pk}-{content_hash}.gz", _gzip(whole.data)),
            "content_hash": content_hash,
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


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, GZIP_LEVEL, mtime=0)


def _keep(name: str, data: bytes) -> str:
    return default_storage.save(f"{FOLDER}/{name}", ContentFile(data))


def forget_unused() -> None:
    """Drop the longest unused differences, and files whose row went with a snapshot."""
    DiffPayload.objects.longest_unused(KEPT).delete()
    _, names = default_storage.listdir(FOLDER) if default_storage.exists(FOLDER) else ([], [])
    files = {f"{FOLDER}/{name}" for name in names}
    for name in files - set(DiffPayload.objects.exclude(file="").values_list("file", flat=True)):
        if timezone.now() - default_storage.get_modified_time(name) > ORPHAN_AFTER:
            default_storage.delete(name)
