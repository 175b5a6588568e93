"""Snapshots for scripts and CI, in the forms that other tools read."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from ninja import Field, Query, Router, Schema

from tracer.profile.export.picture import MIN_WIDTH, PALETTES, WIDTH
from webapp.errors import ApiError
from webapp.flamegraph import offline
from webapp.flamegraph.exports import NoSuchExport, snapshot_file
from webapp.flamegraph.interval_files import interval_file
from webapp.flamegraph.intervals import NoSuchInterval, NotAnInterval, find_interval, interval_view
from webapp.flamegraph.pictures import VIEWS, BadPicture, picture_of
from webapp.runs.models import Run
from webapp.teams.auth import session_or_token, viewer_of

router = Router(auth=session_or_token, tags=["exports"])


class PictureQuery(Schema):
    """What the form `svg` looks like; other forms pass over it."""

    title: str = Field("", description="What stands above the picture")
    subtitle: str = ""
    view: str = Field(VIEWS[0], description=" or ".join(VIEWS))
    width: str = Field(str(WIDTH), description="Pixels, where there is no script")
    min_width: str = Field(str(MIN_WIDTH), description="Pixels; narrower frames are not drawn")
    font: str = ""


class SnapshotQuery(PictureQuery):
    value_type: str = Field("", description="The first of the file, and the only one of svg and folded")
    colors: str = Field(PALETTES[0], description=" or ".join(PALETTES))


@router.get(
    "/runs/{run_id}/snapshots/{seq}/export/{form}",
    summary="A snapshot as html (the viewer in one file), svg, folded, pprof, speedscope, json or csv",
)
def export_snapshot(
    request: HttpRequest, run_id: str, seq: int, form: str, query: Query[SnapshotQuery]
) -> HttpResponseBase:
    """The file, as an attachment: `curl -OJ`. It is made of the stored stacks, with the names they have now."""
    run = _run(request, run_id)
    snapshot = run.snapshots.filter(seq=seq, revision__gt=0).select_related("run").first()
    if snapshot is None:
        raise ApiError(404, f"Run {run_id} has no snapshot {seq} that was read.")
    if form == offline.FORM:
        return offline.run_file(request, snapshot, query.value_type, query.view)
    try:
        return snapshot_file(snapshot, form, query.value_type, picture_of(query.dict()))
    except NoSuchExport as error:
        raise ApiError(404, str(error)) from None
    except BadPicture as error:
        raise ApiError(422, str(error)) from None


@router.get(
    "/runs/{run_id}/intervals/{since}/{until}",
    response=dict[str, Any],
    summary="What a flow was after one snapshot of a run, until another",
)
def get_interval(request: HttpRequest, run_id: str, since: int, until: int, value_type: str = "") -> dict[str, Any]:
    """`value_type` defaults to the first flow that both have; a level has none.

    The first call makes the tree. `payload_url` has `{value_type}`, `{tag}` and `{stage}`, overview or full, to be
    filled in. `negative` has the number of frames below zero, and how much, where estimates shrank.
    """
    try:
        interval = find_interval(_run(request, run_id), since, until)
        return interval_view(interval, value_type or interval.first_flow)
    except NoSuchInterval as error:
        raise ApiError(404, str(error)) from None
    except NotAnInterval as error:
        raise ApiError(422, str(error)) from None


@router.get(
    "/runs/{run_id}/intervals/{since}/{until}/export/{form}",
    summary="What a flow was in an interval as html, svg, folded, pprof, speedscope, json or csv",
)
def export_interval(
    request: HttpRequest, run_id: str, since: int, until: int, form: str, query: Query[SnapshotQuery]
) -> HttpResponseBase:
    """The file, as an attachment: `curl -OJ`. It has one flow, `value_type` or the first; html has both snapshots."""
    try:
        interval = find_interval(_run(request, run_id), since, until)
        if form == offline.FORM:
            return offline.interval_file(request, interval, query.value_type, query.view)
        return interval_file(interval, form, query.value_type, picture_of(query.dict()))
    except (NoSuchInterval, NoSuchExport) as error:
        raise ApiError(404, str(error)) from None
    except (NotAnInterval, BadPicture) as error:
        raise ApiError(422, str(error)) from None


def _run(request: HttpRequest, run_id: str) -> Run:
    run = Run.objects.visible_to(viewer_of(request)).filter(run_id=run_id).first()
    if run is None:
        raise ApiError(404, f"There is no run {run_id!r} that you may see.")
    return run
