"""The run page, the payloads that its graph is drawn of, and what arrived as it came."""

from __future__ import annotations

import json
import re
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET
from ninja.responses import NinjaJSONEncoder

from tracer.profile.formats.unpack import packed_as
from webapp.errors import Refusal
from webapp.flamegraph import cached, exports, offline, plain
from webapp.flamegraph.filters import filter_words, mode_words
from webapp.flamegraph.interval_files import interval_file
from webapp.flamegraph.intervals import NoSuchInterval, NotAnInterval, find_interval, interval_url, known_interval
from webapp.flamegraph.intervals import interval_payload as interval_payload_of
from webapp.flamegraph.models import IntervalPayload
from webapp.flamegraph.pictures import BadPicture, picture_of
from webapp.flamegraph.serving import packed_response, quoted, signed_in
from webapp.pushes.models import RollingRun
from webapp.runs import needed
from webapp.runs.models import Payload, Run, Snapshot
from webapp.runs.runview import run_view
from webapp.runs.views import may_delete
from webapp.teams.access import person
from webapp.teams.models import Role

STAGES = ("overview", "full")
_TAG = re.compile(r"(\d{1,9})-[0-9a-f]{1,16}")
SMALL_UP_TO = 150_000  # nodes, as frontend/js/run-view.js has it
WRITTEN_SNAPSHOTS = 50  # of longer runs the view comes by itself, compressed, beside the graph
DOWNLOADS_OFFERED = 50  # the newest; older ones have an address, but a menu of 2,000 helps nobody
_EXTENSIONS = {"gzip": ".gz", "zstd": ".zst", "bzip2": ".bz2", "xz": ".xz"}


@login_required
@require_GET
def run(request: HttpRequest, run_id: str) -> HttpResponse:
    """The page of a run in any state. JavaScript draws the graph; the table of functions stands here without it too."""
    runs = Run.objects.visible_to(request.user).for_view().select_related("project__team")
    found = get_object_or_404(runs, run_id=run_id)
    # Captures are read of the newest and the one shown only: each may have 100,000 characters.
    columns = "seq", "run", "revision", "nodes", "value_types", "skipped_lines", "elapsed_s", "label", "received"
    snapshots = list(found.snapshots.only(*columns))
    shown = plain.shown(snapshots, request.GET.dict(), default_seq=found.shown_seq)
    shown, first = _drawn_first(found, shown, makes_interval="plain" in request.GET) if shown else (None, None)
    context = {
        "run": found,
        "project": found.project,
        "is_preview": found.project is None,
        "can_record": found.project is not None and found.project.allows(request.user, Role.MEMBER),
        "can_delete": may_delete(found, person(request)),
        "filters": filter_words(found, snapshots),
        "mode": mode_words(snapshots),
        "received": [snapshot for snapshot in snapshots if snapshot.received][-DOWNLOADS_OFFERED:],
        "rolling": RollingRun.objects.filter(run=found).first() if found.is_pushed else None,
        "forms": exports.MENU,
        "shown_snapshot": shown.snapshot if shown else None,
        "file_query": shown.file_query() if shown else "",
        "export_url": f"/runs/{found.run_id}/export/{{seq}}/{{form}}",
        "run_api_url": f"/api/v1/runs/{found.run_id}",
        "preload_urls": _preload_urls(found, shown, first) if shown and first else [],
        "view": _written_view(found) if len(snapshots) <= WRITTEN_SNAPSHOTS else "",
        "plain": _plain(found, snapshots, shown, first) if shown else None,
        "make_url": shown.address() if shown and shown.since and not first else "",
        "needed": needed.of_snapshot(shown.snapshot) if shown and found.project else (),
        "server": f"{request.scheme}://{request.get_host()}",
    }
    return render(request, "flamegraph/run.html", context)


def _written_view(run: Run) -> str:
    """RunView as the API sends it: in the page it is there when the script begins, which need not ask for it."""
    return json.dumps(run_view(run, is_brief=True), cls=NinjaJSONEncoder, separators=(",", ":"))


def _drawn_first(
    run: Run, shown: plain.Shown, *, makes_interval: bool
) -> tuple[plain.Shown, Payload | IntervalPayload | None]:
    """An interval takes seconds to make of large trees, for which nobody waits whose script asks the API for it."""
    if shown.since is None:
        return shown, _payload_of(shown)
    try:
        interval = find_interval(run, shown.since.seq, shown.snapshot.seq)
        find = interval_payload_of if makes_interval else known_interval
        return shown, find(interval, shown.value_type["name"])
    except (NoSuchInterval, NotAnInterval) as error:
        whole = shown.without_interval(f"{error} All until its end is shown.")
        return whole, _payload_of(whole)


def _plain(
    run: Run, snapshots: list[Snapshot], shown: plain.Shown, first: Payload | IntervalPayload | None
) -> dict[str, Any]:
    negative = first.negative if isinstance(first, IntervalPayload) else ()
    return plain.page(run, snapshots, shown, first.functions if first else {}, negative)


def _payload_of(shown: plain.Shown) -> Payload | None:
    payloads = Payload.objects.filter(
        snapshot=shown.snapshot, revision=shown.snapshot.revision, value_type=shown.value_type["name"]
    )
    return payloads.only("revision", "content_hash", "overview_is_full", "functions").first()


def _preload_urls(run: Run, shown: plain.Shown, payload: Payload | IntervalPayload) -> list[str]:
    """Addresses of the graph that is drawn first."""
    name, seq = shown.value_type["name"], shown.snapshot.seq
    nodes = payload.nodes if isinstance(payload, IntervalPayload) else shown.snapshot.nodes
    is_small = not payload.overview_is_full and nodes <= SMALL_UP_TO
    stages = STAGES if is_small else STAGES[:1]
    if shown.since is None:
        return [payload_url(run.run_id, seq, name, payload.tag, stage) for stage in stages]
    address = interval_url(run.run_id, shown.since.seq, seq)
    return [address.format(value_type=quoted(name), tag=payload.tag, stage=stage) for stage in stages]


def payload_url(run_id: str, seq: int, value_type: str, tag: str, stage: str) -> str:
    """As JavaScript makes it of RunView's `payload_url`."""
    return f"/runs/{run_id}/payload/{seq}/{quoted(value_type)}/{tag}/{stage}"


@require_GET
def payload(request: HttpRequest, run_id: str, seq: int, value_type: str, tag: str, stage: str) -> HttpResponseBase:
    """A gzip FGB2 payload. Another revision or other bytes have another address."""
    viewer = signed_in(request)
    if isinstance(viewer, HttpResponse):
        return viewer
    if stage not in STAGES:
        raise Http404("no such payload")
    # One query for all that is asked: an overview is there in the time that the site takes to look up who wants it.
    visible = Run.objects.visible_to(viewer).filter(run_id=run_id)
    found = Payload.objects.filter(snapshot__run__in=visible, snapshot__seq=seq, value_type=value_type)
    deferred = ("functions",) if stage == "overview" else ("functions", "overview")
    row = next((row for row in found.defer(*deferred) if row.tag == tag), None)
    if row is None:
        return _newer_payload(get_object_or_404(visible.only("pk")), seq, value_type, tag, stage)
    return packed_response(request, f"{tag}-{stage}", lambda: _packed(row, stage))


def _newer_payload(run: Run, seq: int, value_type: str, tag: str, stage: str) -> HttpResponse:
    """An address of a revision that is gone leads to the one that took its place: the values are the same."""
    snapshot = get_object_or_404(run.snapshots, seq=seq)
    newest = Payload.objects.filter(snapshot=snapshot, revision=snapshot.revision, value_type=value_type)
    row = newest.only("revision", "content_hash").first()
    asked = _TAG.fullmatch(tag)
    if row is None or asked is None or int(asked[1]) >= row.revision:
        raise Http404("no such payload")
    return redirect(payload_url(run.run_id, seq, value_type, row.tag, stage))


def _packed(row: Payload, stage: str) -> bytes:
    if stage == "overview" or row.overview_is_full:
        return bytes(row.overview)
    with default_storage.open(row.file) as file:
        return bytes(file.read())


@require_GET
def interval_payload(
    request: HttpRequest, run_id: str, since: int, until: int, value_type: str, tag: str, stage: str
) -> HttpResponseBase:
    """A gzip FGB2 payload of what a flow was between two snapshots. Other revisions have another address."""
    viewer = signed_in(request)
    if isinstance(viewer, HttpResponse):
        return viewer
    run = get_object_or_404(Run.objects.visible_to(viewer).only("pk"), run_id=run_id)
    found = IntervalPayload.objects.filter(since__run=run, since__seq=since, until__run=run, until__seq=until)
    rows = found.filter(value_type=value_type).defer("overview", "functions")
    row = next((row for row in rows if row.tag == tag), None)
    if row is None or stage not in STAGES or not row.is_whole:
        raise Http404("no such payload")
    return packed_response(request, f"{tag}-{stage}", lambda: cached.packed(row, stage))


@login_required
@require_GET
def received(request: HttpRequest, run_id: str, seq: int) -> FileResponse:
    """Download a snapshot's bytes as they came."""
    run = get_object_or_404(Run.objects.visible_to(request.user), run_id=run_id)
    snapshot = get_object_or_404(run.snapshots.exclude(received=""), seq=seq)
    file = default_storage.open(snapshot.received)
    extension = _EXTENSIONS.get(packed_as(file.read(8)) or "", "")
    file.seek(0)
    name = f"{run.run_id}-{seq}.{snapshot.format or 'profile'}{extension}"
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/octet-stream")


@login_required
@require_GET
def export(request: HttpRequest, run_id: str, seq: int, form: str) -> HttpResponseBase:
    """A snapshot written in a form that other tools read; the query says which value type and how a picture looks.

    With `from` it is what a flow was after that snapshot, until this one.
    """
    run = get_object_or_404(Run.objects.visible_to(request.user), run_id=run_id)
    snapshot = get_object_or_404(run.snapshots.filter(revision__gt=0).select_related("run"), seq=seq)
    query = request.GET.dict()
    try:
        if "from" in query:
            return _interval_file(request, run, seq, form)
        if form == offline.FORM:
            return offline.run_file(request, snapshot, query.get("value_type", ""), query.get("view", ""))
        return exports.snapshot_file(snapshot, form, query.get("value_type", ""), picture_of(query))
    except (exports.NoSuchExport, NoSuchInterval, NotAnInterval, BadPicture) as error:
        raise Refusal(str(error)) from None


def _interval_file(request: HttpRequest, run: Run, until: int, form: str) -> HttpResponseBase:
    query = request.GET.dict()
    since = query["from"]
    if not plain.SEQ.fullmatch(since):
        raise NoSuchInterval(f"An interval begins at the number of a snapshot, not at {since!r}.")
    interval = find_interval(run, int(since), until)
    if form == offline.FORM:
        return offline.interval_file(request, interval, query.get("value_type", ""), query.get("view", ""))
    return interval_file(interval, form, query.get("value_type", ""), picture_of(query))
