"""Runs for people, curl and CI: upload a file, list, look at one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Field, Query, Router, Schema
from pydantic import field_validator

from webapp.errors import ApiError
from webapp.middleware import release_upload_slot
from webapp.runs import facts, uploads
from webapp.runs.listing import BadFilter, RunFilters, page_of, parse_label
from webapp.runs.models import Run, State
from webapp.runs.runview import capture_view, listed_view, run_view
from webapp.teams.auth import project_or_404, session_only, session_or_token, viewer_of
from webapp.teams.models import ApiToken, Role, User

router = Router(auth=session_or_token, tags=["runs"])

MAX_LABELS = 20


def _plain(text: str) -> str:
    if any(ord(character) < 32 for character in text):
        raise ValueError("control characters are not taken")
    return text.strip()


class UploadQuery(Schema):
    service: str = Field("", max_length=100)
    deploy: str = Field("", max_length=100)
    name: str = Field("", max_length=200, description="What the run is called; a file's name will do")
    at: datetime | None = Field(None, description="When it was taken, ISO 8601; default now")
    label: list[str] = Field([], max_length=MAX_LABELS, description="key:value, may be repeated")
    files: int = Field(1, ge=1, description="How many files make up the run; the others follow by PUT")
    file: str = Field("", max_length=200, description="What this file of several is called")

    _no_control_characters = field_validator("service", "deploy", "name", "file")(_plain)

    def labels(self) -> dict[str, str]:
        try:
            pairs = dict(parse_label(_plain(text)) for text in self.label)
        except BadFilter as error:
            raise ApiError(422, f"{error}.") from None
        for key, value in pairs.items():
            if len(key) > 60 or len(value) > 200:
                raise ApiError(422, f"label {key[:60]!r} is too long: 60 characters and 200 of value are the limit.")
        return pairs

    def taken_at(self) -> datetime | None:
        return self.at.replace(tzinfo=UTC) if self.at and self.at.tzinfo is None else self.at


class PreviewQuery(Schema):
    name: str = Field("", max_length=200)

    _no_control_characters = field_validator("name")(_plain)


class FileQuery(Schema):
    file: str = Field("", max_length=200, description="What this file is called")

    _no_control_characters = field_validator("file")(_plain)


class Uploaded(Schema):
    run: str
    url: str
    value_types: list[str]


class PartlyUploaded(Uploaded):
    missing: list[int] = Field(description="Numbers of the files that have not come yet")


class ListQuery(Schema):
    service: str = ""
    host: str = ""
    collector: str = ""
    deploy: str = ""
    state: str = Field("", description="One of the states, or active")
    label: list[str] = Field([], description="key:value, may be repeated; all must hold")
    since: str = Field("", description="First day, UTC, such as 2026-11-29")
    until: str = Field("", description="Last day, UTC")
    text: str = Field("", description="Part of title, service, deploy or run id")
    cursor: str = Field("", description="next_cursor of the page before")
    size: int = Field(50, ge=1, le=200)


@router.post(
    "/projects/{slug}/uploads",
    response={201: Uploaded, 202: PartlyUploaded},
    summary="Upload a profile in any known format; answers the run's link",
)
def upload_file(request: HttpRequest, slug: str, query: Query[UploadQuery]) -> HttpResponse:
    """The body is the file: `curl --data-binary @out.folded`. 202 when it is stored and not read within 60 s.

    With `files=3` it is the first of three, and the answer is 202 at once.
    """
    project = project_or_404(request, slug, Role.MEMBER)
    viewer = viewer_of(request)
    if query.files > settings.MAX_SNAPSHOTS:
        raise ApiError(413, f"The upload would have {query.files:,} files, the limit is {settings.MAX_SNAPSHOTS:,}.")
    upload = uploads.Upload(
        project,
        None if isinstance(viewer, ApiToken) else viewer,
        title=query.name,
        service=query.service,
        deploy=query.deploy,
        labels=query.labels(),
        taken_at=query.taken_at(),
        key=request.headers.get("Idempotency-Key", "")[:100] or None,
        files=query.files,
        file=query.file if query.files > 1 else "",
    )
    return _take(request, upload)


@router.put(
    "/runs/{run_id}/files/{int:number}",
    response={201: Uploaded, 202: PartlyUploaded},
    summary="Send one more file of an upload of several; the last one's answer says that all are read",
)
def put_file(request: HttpRequest, run_id: str, number: int, query: Query[FileQuery]) -> HttpResponse:
    run = Run.objects.visible_to(viewer_of(request)).filter(run_id=run_id).select_related("project").first()
    if run is None or run.project is None or not run.upload_files:
        raise ApiError(404, f"There is no upload {run_id!r} that you may add to.")
    project_or_404(request, run.project.slug, Role.MEMBER)
    encoding = uploads.content_encoding(request.headers.get("Content-Encoding"))
    with uploads.received(request) as body:
        uploads.keep_file(run, number, body, encoding=encoding, file=query.file)
    return _answered(request, run)


@router.post(
    "/uploads",
    auth=session_only,
    response={201: Uploaded, 202: Uploaded},
    summary="Open a file as a private preview that only you see, kept a day",
)
def preview(request: HttpRequest, query: Query[PreviewQuery]) -> HttpResponse:
    viewer = viewer_of(request)
    assert isinstance(viewer, User)
    return _take(request, uploads.Upload(None, viewer, title=query.name))


@router.get("/projects/{slug}/runs", response=dict[str, Any], summary="Runs of a project, newest first")
def list_runs(request: HttpRequest, slug: str, query: Query[ListQuery]) -> dict[str, Any]:
    project = project_or_404(request, slug)
    runs = Run.objects.visible_to(viewer_of(request)).filter(project=project)
    try:
        page = page_of(runs, RunFilters.from_query(request.GET), cursor=query.cursor, size=query.size)
    except BadFilter as error:
        raise ApiError(422, f"{error}.") from None
    return {"runs": [listed_view(run) for run in page.runs], "next_cursor": page.next_cursor}


@router.get("/runs/{run_id}", response=dict[str, Any], summary="One run with its snapshots")
def get_run(request: HttpRequest, run_id: str, brief: bool = False) -> dict[str, Any]:
    """`brief=true` leaves the captures of all but two out where there are more than 50 snapshots."""
    run = Run.objects.visible_to(viewer_of(request)).for_view().filter(run_id=run_id).first()
    if run is None:
        raise ApiError(404, f"There is no run {run_id!r} that you may see.")
    return run_view(run, is_brief=brief)


@router.get(
    "/runs/{run_id}/snapshots/{int:seq}/capture", response=dict[str, Any], summary="What a brief run leaves out"
)
def get_capture(request: HttpRequest, run_id: str, seq: int) -> dict[str, Any]:
    run = Run.objects.visible_to(viewer_of(request)).filter(run_id=run_id).first()
    snapshot = run.snapshots.filter(seq=seq).first() if run else None
    if snapshot is None:
        raise ApiError(404, f"There is no snapshot {seq} of run {run_id!r} that you may see.")
    return capture_view(snapshot)


def _take(request: HttpRequest, upload: uploads.Upload) -> HttpResponse:
    encoding = uploads.content_encoding(request.headers.get("Content-Encoding"))
    with uploads.received(request) as body:
        run = uploads.keep_upload(upload, body, encoding=encoding)
    return _answered(request, run)


def _answered(request: HttpRequest, run: Run) -> HttpResponse:
    """Once all files are there, after they were read."""
    release_upload_slot(request)
    missing = uploads.missing_files(run)
    answer: dict[str, Any] = {"run": run.run_id, "url": request.build_absolute_uri(f"/runs/{run.run_id}")}
    if not missing:
        run = uploads.read_or_refused(run)
    shown = facts.shown_of(run)
    answer["value_types"] = [row["name"] for row in shown.value_types] if shown and not missing else []
    if run.state != State.INGESTING:
        return JsonResponse(answer, status=201)
    return JsonResponse(answer | {"missing": missing}, status=202)
