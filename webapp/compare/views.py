"""The compare page of two runs or snapshots, its payload, and picking the two."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET

from webapp.compare.backend import packed
from webapp.compare.models import DiffPayload
from webapp.compare.sides import NoSuchSide, NothingToCompare, find_side, taken_at
from webapp.flamegraph.serving import packed_response, signed_in
from webapp.flamegraph.views import STAGES
from webapp.runs.models import Run, RunQuerySet
from webapp.teams.access import project_or_404
from webapp.teams.models import User

PICKED_FROM = 100  # newest runs that a side is picked from; filters and older ones are on the dashboard


@login_required
@require_GET
def compare(request: HttpRequest, before: str, after: str) -> HttpResponse:
    """The page of a difference; graph, table and what can't be compared come from the API."""
    runs = _run_or_404(request, before), _run_or_404(request, after)
    context = {
        "before_ref": before,
        "after_ref": after,
        "before_run_id": runs[0].run_id,
        "after_run_id": runs[1].run_id,
        "project": runs[1].project or runs[0].project,
    }
    return render(request, "compare/compare.html", context)


def _run_or_404(request: HttpRequest, side: str) -> Run:
    runs = Run.objects.visible_to(request.user).select_related("project__team")
    return get_object_or_404(runs, run_id=side.partition("@")[0])


@require_GET
def diff_payload(
    request: HttpRequest, before: str, after: str, value_type: str, tag: str, stage: str
) -> HttpResponseBase:
    """A gzip FGB2 payload of two columns. Other revisions or other bytes have another address."""
    viewer = signed_in(request)
    if isinstance(viewer, HttpResponse):
        return viewer
    row = _row(viewer, before, after, value_type, tag)
    if row is None or stage not in STAGES or not row.is_whole:
        raise Http404("no such payload")
    return packed_response(request, f"{tag}-{stage}", lambda: packed(row, stage))


def _row(viewer: User, before: str, after: str, value_type: str, tag: str) -> DiffPayload | None:
    try:
        sides = find_side(viewer, before), find_side(viewer, after)
    except (NoSuchSide, NothingToCompare):
        return None
    found = DiffPayload.objects.filter(before=sides[0].snapshot, after=sides[1].snapshot, value_type=value_type)
    return next((row for row in found.defer("overview") if row.tag == tag), None)


@login_required
@require_GET
def compare_pick(request: HttpRequest, project: str) -> HttpResponse:
    """Two runs ticked on the dashboard (`run=`) or picked here (`go=`) lead to their comparison."""
    found = project_or_404(request, project)
    runs = Run.objects.visible_to(request.user).filter(project=found)
    ticked = request.GET.getlist("run")
    before, after = _ticked_sides(runs, ticked) if ticked else _picked_sides(runs, request)
    is_chosen = bool(ticked or "go" in request.GET)
    if is_chosen and before and after and before != after:
        return redirect("compare", before, after)
    context = {
        "project": found,
        "before": before,
        "after": after,
        "runs": runs.filter(total__isnull=False).order_by("-created_at", "-id")[:PICKED_FROM],
        "error": "A comparison has two sides: pick one run as before and another as after." if is_chosen else "",
    }
    return render(request, "compare/pick.html", context)


def _ticked_sides(runs: RunQuerySet, run_ids: list[str]) -> tuple[str, str]:
    """The earlier is before. One or three ticked runs leave a side open."""
    picked = [run.run_id for run in sorted(runs.filter(run_id__in=run_ids), key=taken_at)]
    return (picked[0], picked[1]) if len(picked) == 2 else (picked[0] if picked else "", "")


def _picked_sides(runs: RunQuerySet, request: HttpRequest) -> tuple[str, str]:
    """Run ids of this project, whatever snapshot they were followed by; others are as if not picked."""
    before, after = (request.GET.get(side, "").partition("@")[0] for side in ("before", "after"))
    known = set(runs.filter(run_id__in=[before, after]).values_list("run_id", flat=True))
    return (before if before in known else "", after if after in known else "")
