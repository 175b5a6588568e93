"""Payloads that are made when they are asked for, and kept while they are used."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import xxhash
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import models
from django.utils import timezone

from tracer.profile.tree.payload import EncodedPayload
from webapp.runs.revisions import compressed

USED_AGAIN_AFTER = timedelta(minutes=1)  # a busy page does not write on every request
ORPHAN_AFTER = timedelta(hours=1)  # a file without a row may be one that is being stored


class CachedPayload(models.Model):
    """It can be made again from the stored trees at any time, and goes with their snapshots."""

    overview = models.BinaryField()  # gzip of an FGB2 payload
    overview_is_full = models.BooleanField(default=False)
    file = models.CharField(max_length=200, default="")  # storage name of the gzip of the full payload
    content_hash = models.CharField(max_length=16)
    used_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True

    @property
    def is_whole(self) -> bool:
        """Whether its file, if it has one, is still there."""
        return not self.file or default_storage.exists(self.file)


def packed(row: CachedPayload, stage: str) -> bytes:
    """The gzip payload of a stage."""
    if stage == "overview" or row.overview_is_full:
        return bytes(row.overview)
    with default_storage.open(row.file) as file:
        return bytes(file.read())


def kept_fields(first: EncodedPayload, whole: EncodedPayload, file: str) -> dict[str, Any]:
    """Columns of a row, once its file is stored; `file` is its name but for the hash of what is in it."""
    content_hash = xxhash.xxh3_64_hexdigest(whole.data)
    return {
        "overview": compressed(first.data),
        "overview_is_full": first.is_full,
        "file": "" if first.is_full else _keep(f"{file}-{content_hash}.gz", compressed(whole.data)),
        "content_hash": content_hash,
    }


def note_use(row: CachedPayload) -> None:
    if timezone.now() - row.used_at > USED_AGAIN_AFTER:
        type(row)._default_manager.filter(pk=row.pk).update(used_at=timezone.now())


def forget_unused(model: type[CachedPayload], folder: str, kept: int) -> None:
    """Drop all but the `kept` that were used last, and files whose row went with a snapshot."""
    rows = model._default_manager
    newest = rows.order_by("-used_at", "-pk").values_list("pk", flat=True)[:kept]
    rows.exclude(pk__in=list(newest)).delete()
    _, names = default_storage.listdir(folder) if default_storage.exists(folder) else ([], [])
    files = {f"{folder}/{name}" for name in names}
    for name in files - set(rows.exclude(file="").values_list("file", flat=True)):
        if timezone.now() - default_storage.get_modified_time(name) > ORPHAN_AFTER:
            default_storage.delete(name)


def _keep(name: str, data: bytes) -> str:
    return default_storage.save(name, ContentFile(data))
