"""A snapshot's stored tree to a file in a form that other tools read, or that a person opens."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import replace
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from django.core.files.storage import default_storage
from django.http import FileResponse

from tracer.profile import tree
from tracer.profile.export.forms import FORMS
from tracer.profile.export.picture import Picture
from tracer.profile.export.source import Source
from webapp.flamegraph.pictures import title_of
from webapp.runs.models import Snapshot

MENU = {"html": "This page in one file, HTML", **{name: form.title for name, form in FORMS.items()}}
ONE_VALUE_TYPE = ("svg", "folded")  # forms that hold no more than one
_IN_MEMORY_BYTES = 8 << 20  # larger ones go to disk

# Writing a tree of a million nodes takes 0.6 GB as folded text, 0.1 to 0.3 GB as anything else: one at a time.
_writing = threading.Lock()


class NoSuchExport(LookupError):
    """There is no such form or value type; the text is for people."""


def snapshot_file(snapshot: Snapshot, form: str, value_type: str, picture: Picture) -> FileResponse:
    """A download of all value types, `value_type` first; by default they stand as in the snapshot."""
    if form not in FORMS:
        raise NoSuchExport(f"There is no form {form!r}, there is {', '.join(FORMS)}.")
    refuse_thinned(snapshot)
    names = [row["name"] for row in snapshot.value_types]
    if value_type and value_type not in names:
        raise NoSuchExport(f"There is no value type {value_type!r}, there is {', '.join(names)}.")
    chosen = value_type or names[0]

    def write(out: BinaryIO) -> None:
        stored = _first(load_tree(snapshot), chosen)
        FORMS[form].write(Source(tree=stored), out, replace(picture, title=picture.title or title_of(snapshot)))

    base = f"{snapshot.run.run_id}-{snapshot.seq}"
    return download(write, form, f"{base}-{chosen}" if form in ONE_VALUE_TYPE else base)


def refuse_thinned(snapshot: Snapshot) -> None:
    """In a file, what was thinned out would pass for what its callers hold; the page says so beside its numbers."""
    if not snapshot.has_whole_tree:
        raise NoSuchExport(f"Snapshot {snapshot.seq} has no file in other forms. {snapshot.capture['thinned']}")


def download(write: Callable[[BinaryIO], None], form: str, name: str) -> FileResponse:
    """What `write` writes, as an attachment; it is gone when it was sent."""
    out = cast(BinaryIO, SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES))  # noqa: SIM115 - the response closes it
    with _writing:
        write(out)
    out.seek(0)
    known = FORMS[form]
    file_name = f"{safe_name(name)}.{known.extension}"
    return FileResponse(out, as_attachment=True, filename=file_name, content_type=known.content_type)


def safe_name(text: str) -> str:
    """Names of value types may hold anything; file names of every system hold these."""
    return re.sub(r"[^A-Za-z0-9._@-]+", "_", text)[:150]


def load_tree(snapshot: Snapshot) -> tree.CallTree:
    with default_storage.open(snapshot.tree) as file:
        return tree.unpack(file.read())


def _first(stored: tree.CallTree, value_type: str) -> tree.CallTree:
    order = sorted(range(len(stored.value_types)), key=lambda i: stored.value_types[i].name != value_type)
    return replace(
        stored,
        value_types=tuple(stored.value_types[column] for column in order),
        selfs=tuple(stored.selfs[column] for column in order),
    )
