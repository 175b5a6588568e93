"""The run page of a snapshot or an interval to one HTML file: the viewer itself, with all of its value types."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from django.core.files.storage import default_storage
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from tracer import __version__
from webapp.flamegraph.cached import packed
from webapp.flamegraph.exports import safe_name
from webapp.flamegraph.filters import filter_words, mode_words
from webapp.flamegraph.intervals import Interval, check_flow, interval_payload, interval_url, interval_view
from webapp.flamegraph.onefile import one_file
from webapp.flamegraph.serving import quoted
from webapp.runs.models import Payload, Snapshot
from webapp.runs.runview import run_view

FORM = "html"


def run_file(request: HttpRequest, snapshot: Snapshot, value_type: str = "", view: str = "") -> HttpResponse:
    """`request` tells only where the site is; the file opens at the value type and the view."""
    page = _page(request, [snapshot], {"t": value_type, "view": view})
    return attachment(one_file(page, _answers([snapshot])), f"{snapshot.run.run_id}-{snapshot.seq}")


def interval_file(request: HttpRequest, interval: Interval, value_type: str = "", view: str = "") -> HttpResponse:
    """It holds both snapshots, and what each flow was in between. Raises NotAnInterval for a level."""
    chosen = value_type or interval.first_flow
    check_flow(interval, chosen)
    shown = {"t": chosen, "s": interval.until.seq, "from": interval.since.seq, "view": view}
    snapshots = [interval.since, interval.until]
    answers = _answers(snapshots)
    for flow in interval.flows():
        answers |= _interval_answers(interval, flow)
    name = f"{interval.run.run_id}-{interval.since.seq}..{interval.until.seq}"
    return attachment(one_file(_page(request, snapshots, shown), answers), name)


def _page(request: HttpRequest, snapshots: list[Snapshot], opens_at: dict[str, Any]) -> str:
    run = snapshots[-1].run
    context = {
        "run": run,
        "filters": filter_words(run, snapshots),
        "mode": mode_words(snapshots),
        "preload_urls": ["offline"],
        "opens_at": fragment_of(opens_at),
        **offline_context(request, f"/runs/{run.run_id}"),
    }
    return render_to_string("flamegraph/run.html", context)


def fragment_of(state: dict[str, Any]) -> str:
    """Where a saved page opens, as its address says it; empty where the page is to choose."""
    fields = {key: value for key, value in state.items() if value}
    return f"#{urlencode({'v': 1, **fields}, quote_via=quote)}" if fields else ""


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


def view_of(*snapshots: Snapshot) -> dict[str, Any]:
    """RunView with these snapshots alone, of a run that goes on no more."""
    view, seqs = run_view(snapshots[-1].run), [snapshot.seq for snapshot in snapshots]
    only = [each for each in view["snapshots"] if each["seq"] in seqs]
    ended = {"state": "ready", "is_open": False, "stop_requested": ""}
    return view | ended | {"snapshots": only, "expected_snapshots": len(only)}


def _answers(snapshots: list[Snapshot]) -> dict[str, Any]:
    run_id = snapshots[-1].run.run_id
    answers: dict[str, Any] = {f"/api/v1/runs/{run_id}": view_of(*snapshots)}
    for snapshot in snapshots:
        for row in Payload.objects.filter(snapshot=snapshot, revision=snapshot.revision):
            base = f"/runs/{run_id}/payload/{snapshot.seq}/{quoted(row.value_type)}/{row.tag}"
            answers[f"{base}/overview"] = bytes(row.overview)
            if not row.overview_is_full:
                with default_storage.open(row.file) as file:
                    answers[f"{base}/full"] = bytes(file.read())
    return answers


def _interval_answers(interval: Interval, flow: str) -> dict[str, Any]:
    run_id, since, until = interval.run.run_id, interval.since.seq, interval.until.seq
    row = interval_payload(interval, flow)
    stages = ["overview"] if row.overview_is_full else ["overview", "full"]
    address = interval_url(run_id, since, until)
    return {
        f"/api/v1/runs/{run_id}/intervals/{since}/{until}?value_type={quoted(flow)}": interval_view(interval, flow),
        **{address.format(value_type=quoted(flow), tag=row.tag, stage=stage): packed(row, stage) for stage in stages},
    }
