"""What a flow was between two snapshots to a file in a form that other tools read, or that a person opens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, BinaryIO

from django.http import FileResponse

from tracer.profile.export.forms import FORMS
from tracer.profile.export.picture import Picture
from tracer.profile.export.source import Source
from tracer.profile.tree import CallTree
from webapp.flamegraph.exports import NoSuchExport, download
from webapp.flamegraph.intervals import Interval, check_flow, interval_tree
from webapp.flamegraph.pictures import title_at


def interval_file(interval: Interval, form: str, value_type: str, picture: Picture) -> FileResponse:
    """A download of one flow, by default the first. Raises NotAnInterval for a level."""
    if form not in FORMS:
        raise NoSuchExport(f"There is no form {form!r}, there is {', '.join(FORMS)}.")
    chosen = value_type or interval.first_flow
    check_flow(interval, chosen)
    look = replace(picture, title=picture.title or title_at(interval.run, interval.words))

    def write(out: BinaryIO) -> None:
        FORMS[form].write(Source(tree=_told(interval, chosen)), out, look)

    since, until = interval.since.seq, interval.until.seq
    return download(write, form, f"{interval.run.run_id}-{since}..{until}-{chosen}")


def _told(interval: Interval, value_type: str) -> CallTree:
    """With when it was: else a file of an interval passes for one of all until its end."""
    made = interval_tree(interval, value_type)
    known = replace(made.value_types[0], meaning=f"{made.value_types[0].meaning}, {interval.words}")
    return replace(made, value_types=(known,), capture=_capture(interval))


def _capture(interval: Interval) -> Mapping[str, Any]:
    """That of the later snapshot, from where the interval begins."""
    capture = {**interval.until.capture, "elapsed_s": interval.seconds}
    if isinstance(began := capture.get("started_at"), str):
        later = datetime.fromisoformat(began) + timedelta(seconds=interval.since.elapsed_s)
        capture["started_at"] = later.isoformat(timespec="milliseconds")
    return capture
