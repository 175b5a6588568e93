"""The call tree of a snapshot to a revision of it: the packed tree, payloads, and the rows that name them."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import xxhash
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from tracer.profile import tree
from tracer.profile.tree import payload
from webapp.runs import functions
from webapp.runs.models import Payload, Snapshot, UnnamedModule

GZIP_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Made:
    """Files are in the storage; rows are not saved, so that nobody sees them yet."""

    revision: int
    tree: str  # storage name
    payloads: list[Payload]

    @property
    def fields(self) -> dict[str, Any]:
        """That make it the snapshot's current revision."""
        return {"tree": self.tree, "revision": self.revision}


def made(snapshot: Snapshot, call_tree: tree.CallTree, revision: int) -> Made:
    name = _keep(snapshot.tree_name(revision), tree.pack(call_tree))
    tables = functions.tables(call_tree)
    payloads = [_payload(snapshot, call_tree, column, table, revision) for column, table in enumerate(tables)]
    return Made(revision, name, payloads)


def keep(snapshot: Snapshot, made: Made, modules: Sequence[UnnamedModule]) -> None:
    """Inside of the transaction that makes it the snapshot's current revision: the rows."""
    Payload.objects.filter(snapshot=snapshot, revision=made.revision).delete()
    Payload.objects.bulk_create(made.payloads)
    snapshot.unnamed_modules.all().delete()
    for module in modules:
        module.snapshot = snapshot
    UnnamedModule.objects.bulk_create(modules)


def forget_before(snapshot: Snapshot, revision: int) -> None:
    """That one stays, for pages that are open; what is older goes."""
    old = Payload.objects.filter(snapshot=snapshot, revision__lt=revision)
    files = [*old.exclude(file="").values_list("file", flat=True), snapshot.tree_name(revision - 1)]
    old.delete()
    for name in files:
        default_storage.delete(name)


def _payload(
    snapshot: Snapshot, call_tree: tree.CallTree, column: int, table: dict[str, Any], revision: int
) -> Payload:
    """Both stages, compressed here once. A tree that is small, or has negative values, has the first only."""
    first = payload.encode(call_tree, column, overview=True)
    whole = first if first.is_full else payload.encode(call_tree, column, overview=False)
    content_hash = xxhash.xxh3_64_hexdigest(whole.data)
    file = f"payloads/{snapshot.run.run_id}/{snapshot.seq:04d}-{revision}-{column}-{content_hash}.gz"
    return Payload(
        snapshot=snapshot,
        revision=revision,
        value_type=call_tree.value_types[column].name,
        overview=compressed(first.data),
        overview_is_full=first.is_full,
        file="" if first.is_full else _keep(file, compressed(whole.data)),
        content_hash=content_hash,
        functions=table,
    )


def compressed(data: bytes) -> bytes:
    """A payload as it is stored and sent."""
    return gzip.compress(data, GZIP_LEVEL, mtime=0)


def _keep(name: str, data: bytes) -> str:
    """The same name again is the same revision made again, after a worker died: its file is replaced."""
    if default_storage.exists(name):
        default_storage.delete(name)
    return default_storage.save(name, ContentFile(data))
