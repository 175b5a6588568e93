"""A snapshot, as it came, to a file in a form that other tools read."""

from __future__ import annotations

from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from tracer.profile.export.forms import FORMS as FORMS
from webapp.runs.models import Snapshot
from webapp.runs.received import profile_of
from webapp.runs.unnamed import named

_IN_MEMORY_BYTES = 8 << 20  # larger ones go to disk


def written(snapshot: Snapshot, form: str, name: str) -> BinaryIO:
    """Open at its beginning; it is gone when it is closed. Frames have the names that they have on the page."""
    profile = named(snapshot.run.project_id, profile_of(snapshot)).profile
    out = cast(BinaryIO, SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES))  # noqa: SIM115 - the response closes it
    FORMS[form].write(profile, out, name)
    out.seek(0)
    return out
