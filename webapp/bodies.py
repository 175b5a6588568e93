"""Bodies of requests to files: streamed beside the blobs with a running SHA-256, and synced before a row names them."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, default_storage

from webapp.errors import ApiError

CHUNK_BYTES = 64 << 10
ENCODINGS = ("", "gzip", "zstd")
TEMPORARY_KEPT = timedelta(hours=1)


class Readable(Protocol):
    """A request, or a file of a form."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Body:
    """An upload on disk, under a temporary name."""

    path: Path
    sha256: str
    size: int


def content_encoding(header: str | None) -> str:
    """The encoding that a body came in; 422 for one that can't be read."""
    encoding = (header or "").strip().lower()
    encoding = "" if encoding == "identity" else encoding
    if encoding not in ENCODINGS:
        raise ApiError(422, f"Content-Encoding is {encoding!r}, gzip, zstd or none is needed.")
    return encoding


@contextmanager
def received(stream: Readable, *, limit: int | None = None) -> Iterator[Body]:
    """Write the stream to a temporary file and sync it; on leaving, what was not moved away is deleted.

    The limit is in bytes; that of profiles if none is given.
    """
    folder = temporary_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / secrets.token_hex(12)
    try:
        yield _written(stream, path, limit or settings.MAX_UPLOAD_BYTES)
    finally:
        path.unlink(missing_ok=True)


def _written(stream: Readable, path: Path, limit: int) -> Body:
    hashed, size = hashlib.sha256(), 0
    with path.open("xb") as file:
        while chunk := stream.read(CHUNK_BYTES):
            size += len(chunk)
            if size > limit:
                raise ApiError(
                    413, f"The body has more than {limit:,} bytes, the limit is {limit:,}; nothing was stored."
                )
            hashed.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return Body(path, hashed.hexdigest(), size)


def delete_old_temporaries(now: datetime) -> int:
    """Bodies whose request died while they came."""
    oldest = (now - TEMPORARY_KEPT).timestamp()
    old = [path for path in temporary_folder().glob("*") if path.stat().st_mtime < oldest]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def temporary_folder() -> Path:
    """Beside the blobs, so that moving a body in is a rename."""
    return Path(settings.MEDIA_ROOT) / "incoming"


def move_into_storage(body: Body, name: str) -> str:
    """A rename and a sync of the folder on this machine's disk; a copy into any other storage."""
    if not isinstance(default_storage, FileSystemStorage):
        with body.path.open("rb") as file:
            return str(default_storage.save(name, File(file)))
    target = Path(default_storage.path(name))
    is_new_folder = not target.parent.exists()
    target.parent.mkdir(parents=True, exist_ok=True)
    body.path.replace(target)
    _sync_folder(target.parent)
    if is_new_folder:
        _sync_folder(target.parent.parent)
    return name


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
