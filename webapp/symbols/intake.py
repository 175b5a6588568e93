"""The body of an upload to a stored symbol file: inflated within limits, looked at by a process without rights."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.db.models import Sum

from tracer.profile.errors import LimitExceeded, ProfileError
from tracer.profile.formats.unpack import unpack
from tracer.profile.model import Limits
from tracer.symbols.namer import Namer, NamerError
from webapp.bodies import Body, move_into_storage, temporary_folder
from webapp.errors import ApiError
from webapp.symbols.models import SymbolFile
from webapp.teams.models import Project, User

INSPECTING_S = 30.0
_FILE_NAME = re.compile(r"[^/\0-\x1f]{1,255}")
_DEBUG_SUFFIX = re.compile(r"\.(debug|dbg)$")


def keep(project: Project, body: Body, *, name: str, by: User | None) -> tuple[SymbolFile, bool]:
    """The stored file, and whether it is new: the same content again is the same file. ApiError says why not."""
    module = _DEBUG_SUFFIX.sub("", name)
    if not _FILE_NAME.fullmatch(module):
        raise ApiError(
            422, f"name is {name[:80]!r}, the file name of the binary is needed: 1 to 255 characters, no slash."
        )
    with _inflated(body) as whole:
        known = SymbolFile.objects.filter(project=project, sha256=whole.sha256).first()
        if known is not None:
            return known, False
        _check_quota(project, whole.size)
        told = _inspected(whole.path, name)
        stored = move_into_storage(whole, f"symbols/{project.pk}/{whole.sha256}")
        file = SymbolFile(
            project=project, module=module, size=whole.size, sha256=whole.sha256, stored=stored, uploaded_by=by, **told
        )
        return _inserted(file)


def delete(file: SymbolFile) -> None:
    """The row, and after it the content: a crash in between leaves a file that nothing names."""
    file.delete()
    default_storage.delete(file.stored)


def _inserted(file: SymbolFile) -> tuple[SymbolFile, bool]:
    try:
        with transaction.atomic():
            file.save()
    except IntegrityError:  # the same content came at the same moment
        winner = SymbolFile.objects.get(project=file.project, sha256=file.sha256)
        if winner.stored != file.stored:
            default_storage.delete(file.stored)
        return winner, False
    return file, True


@contextmanager
def _inflated(body: Body) -> Iterator[Body]:
    """In a temporary file of its own, that goes unless it was moved away."""
    path = temporary_folder() / secrets.token_hex(12)
    try:
        yield _written(body, path)
    except LimitExceeded as error:
        raise ApiError(413, f"{error}; nothing was stored.") from None
    except ProfileError as error:
        raise ApiError(422, f"The file can't be unpacked: {error}.") from None
    finally:
        path.unlink(missing_ok=True)


def _written(body: Body, path: Path) -> Body:
    hashed, size = hashlib.sha256(), 0
    with body.path.open("rb") as packed, path.open("xb") as file:
        for step in unpack(packed, Limits(inflated_bytes=settings.MAX_SYMBOL_INFLATED_BYTES)):
            size += len(step)
            hashed.update(step)
            file.write(step)
        file.flush()
        os.fsync(file.fileno())
    return Body(path, hashed.hexdigest(), size)


def _check_quota(project: Project, size: int) -> None:
    limit = settings.MAX_PROJECT_SYMBOL_BYTES
    total = size + (project.symbol_files.aggregate(total=Sum("size"))["total"] or 0)
    if total > limit:
        raise ApiError(
            413,
            f"With this file the symbols of {project.slug} would have {total:,} bytes, the limit is {limit:,}; "
            "delete files of versions that no longer run.",
        )


def _inspected(path: Path, name: str) -> dict[str, Any]:
    namer = Namer(reads_lines=False)
    try:
        with path.open("rb") as file:
            told, _ = namer.ask({"do": "inspect"}, [file.fileno()], within_s=INSPECTING_S)
        return {
            "build_id": str(told["build_id"])[:128],
            "kind": SymbolFile.Kind(told["kind"]),
            "has_lines": bool(told["has_lines"]),
        }
    except (NamerError, KeyError, TypeError, ValueError) as error:
        raise ApiError(422, f"{name} was not stored: {error}.") from None
    finally:
        namer.close()
