"""A snapshot's run page to one HTML file: the viewer itself, with all value types of this snapshot."""

from __future__ import annotations

from typing import Any

from django.core.files.storage import default_storage
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from tracer import __version__
from webapp.flamegraph.exports import safe_name
from webapp.flamegraph.filters import filter_words, mode_words
from webapp.flamegraph.onefile import one_file
from webapp.flamegraph.serving import quoted
from webapp.runs.models import Payload, Snapshot
from webapp.runs.runview import run_view

FORM = "html"


def run_file(request: HttpRequest, snapshot: Snapshot) -> HttpResponse:
    """`request` tells only where the site is."""
    run = snapshot.run
    context = {
        "run": run,
        "filters": filter_words(run, [snapshot]),
        "mode": mode_words([snapshot]),
        "preload_urls": ["offline"],
        **offline_context(request, f"/runs/{run.run_id}"),
    }
    page = render_to_string("flamegraph/run.html", context)
    return attachment(one_file(page, _answers(snapshot)), f"{run.run_id}-{snapshot.seq}")


def offline_context(request: HttpRequest, path: str) -> dict[str, Any]:
    """What templates of pages look at when they are saved."""
    return {
        "base": "offline.html",
        "is_offline": True,
        "origin": request.build_absolute_uri("/").rstrip("/"),
        "page_url": request.build_absolute_uri(path),
        "version": __version__,
    }


def attachment(content: bytes, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type="text/html; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{safe_name(name)}.html"'
    return response


def view_of(snapshot: Snapshot) -> dict[str, Any]:
    """RunView with this snapshot alone, of a run that goes on no more."""
    view = run_view(snapshot.run)
    only = [each for each in view["snapshots"] if each["seq"] == snapshot.seq]
    return view | {"snapshots": only, "expected_snapshots": 1, "state": "ready", "stop_requested": ""}


def _answers(snapshot: Snapshot) -> dict[str, Any]:
    run_id = snapshot.run.run_id
    answers: dict[str, Any] = {f"/api/v1/runs/{run_id}": view_of(snapshot)}
    for row in Payload.objects.filter(snapshot=snapshot, revision=snapshot.revision):
        base = f"/runs/{run_id}/payload/{snapshot.seq}/{quoted(row.value_type)}/{row.tag}"
        answers[f"{base}/overview"] = bytes(row.overview)
        if not row.overview_is_full:
            with default_storage.open(row.file) as file:
                answers[f"{base}/full"] = bytes(file.read())
    return answers
