"""Symbols for machines: upload a binary or its debug file, list what is stored and what runs still need, delete."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Field, Query, Router, Schema, Status

from webapp import bodies
from webapp.errors import ApiError
from webapp.middleware import release_upload_slot
from webapp.runs import due, needed
from webapp.runs.models import Run
from webapp.symbols import intake
from webapp.symbols.models import SymbolFile
from webapp.teams.auth import project_or_404, session_or_token, viewer_of
from webapp.teams.models import ApiToken, Role

router = Router(auth=session_or_token, tags=["symbols"])


class SymbolsQuery(Schema):
    name: str = Field(..., max_length=255, description="File name of the binary; that of a debug file will do")


class Stored(Schema):
    module: str
    build_id: str
    kind: str
    has_lines: bool
    size: int
    sha256: str
    runs: int = Field(description="Runs that get names, or other ones, by this file")


@router.api_operation(
    ["POST", "PUT"],
    "/projects/{slug}/symbols",
    response={200: Stored, 201: Stored},
    summary="Upload a binary or its debug file, whose names runs then get; 200 if it was there already",
)
def upload_symbols(request: HttpRequest, slug: str, query: Query[SymbolsQuery]) -> HttpResponse:
    """The body is the file, plain or packed by gzip, zstd, bzip2 or xz."""
    project = project_or_404(request, slug, Role.MEMBER)
    bodies.content_encoding(request.headers.get("Content-Encoding"))
    viewer = viewer_of(request)
    with bodies.received(request, limit=settings.MAX_SYMBOL_BYTES) as body:
        file, is_new = intake.keep(project, body, name=query.name, by=None if isinstance(viewer, ApiToken) else viewer)
    release_upload_slot(request)
    return JsonResponse(_view(file) | {"runs": _made_due(file)}, status=201 if is_new else 200)


@router.get("/projects/{slug}/symbols", response=dict[str, Any], summary="Files of symbols, and what runs still need")
def list_symbols(request: HttpRequest, slug: str) -> dict[str, Any]:
    project = project_or_404(request, slug)
    return {
        "files": [_view(file) for file in project.symbol_files.all()],
        "needed": [need.view() for need in needed.of_project(project)],
    }


@router.delete("/projects/{slug}/symbols/{sha256}", response={204: None}, summary="Delete one; its names go, too")
def delete_symbols(request: HttpRequest, slug: str, sha256: str) -> Status[None]:
    project = project_or_404(request, slug, Role.MEMBER)
    file = project.symbol_files.filter(sha256=sha256).first()
    if file is None:
        raise ApiError(404, f"{slug} has no file of symbols with the SHA-256 {sha256[:64]!r}.")
    due.delete(file)
    return Status(204, None)


def _made_due(file: SymbolFile) -> int:
    snapshots = due.mark_changed(file.project_id, due.fitting(file))
    due.nudge(snapshots)
    return Run.objects.filter(snapshots__in=snapshots).distinct().count() if snapshots else 0


def _view(file: SymbolFile) -> dict[str, Any]:
    return {
        "module": file.module,
        "build_id": file.build_id,
        "kind": file.kind,
        "has_lines": file.has_lines,
        "size": file.size,
        "sha256": file.sha256,
        "uploaded_at": file.uploaded_at,
    }
