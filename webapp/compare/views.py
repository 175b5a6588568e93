"""The compare page of two runs or snapshots, its payload, and picking the two."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from tracer.profile.alignment import Alignment, BadAlignment
from webapp.compare import backend, plain
from webapp.compare.alignment import alignment_of, save_rules
from webapp.compare.exports import NotNormalized, Wanted, difference_file
from webapp.compare.models import DiffPayload, key_of
from webapp.compare.offline import difference_page
from webapp.compare.sides import (
    NoSuchSide,
    NothingToCompare,
    Side,
    common_value_types,
    find_side,
    taken_at,
    why_missing,
    why_none,
)
from webapp.errors import Refusal
from webapp.flamegraph import offline
from webapp.flamegraph.cached import packed
from webapp.flamegraph.exports import MENU, NoSuchExport
from webapp.flamegraph.pictures import BadPicture
from webapp.flamegraph.serving import packed_response, signed_in
from webapp.flamegraph.views import STAGES
from webapp.runs.models import Run, RunQuerySet
from webapp.teams.access import person, project_or_404, require
from webapp.teams.models import Role, User

PICKED_FROM = 100  # newest runs that a side is picked from; filters and older ones are on the dashboard


@login_required
@require_GET
def compare(request: HttpRequest, before: str, after: str) -> HttpResponse:
    """The page of a difference. JavaScript draws the graph; sides, finding and table stand here once it was merged."""
    sides, error = _sides(request, before, after)
    runs = [side.run for side in sides] or [_run_or_404(request, side) for side in (before, after)]
    context = {
        "before_ref": before,
        "after_ref": after,
        "before_run_id": runs[0].run_id,
        "after_run_id": runs[1].run_id,
        "project": runs[1].project or runs[0].project,
        "error": error,
        "forms": MENU,
        "export_url": f"/compare/{before}/{after}/export/{{form}}",
    }
    return render(request, "compare/compare.html", context | (_difference(request, *sides) if sides else {}))


def _sides(request: HttpRequest, before: str, after: str) -> tuple[list[Side], str]:
    """Both sides, or none and why."""
    try:
        sides = [find_side(person(request), side) for side in (before, after)]
    except (NoSuchSide, NothingToCompare) as error:
        return [], str(error)
    if not common_value_types(*sides):
        return [], why_none(*sides)
    return sides, ""


def _difference(request: HttpRequest, before: Side, after: Side) -> dict[str, Any]:
    """Merging takes seconds for large trees, for which nobody waits whose script asks the API for it."""
    common, wanted = common_value_types(before, after), request.GET.get("t", "")
    name = wanted if wanted in common else common[0]
    alignment = _alignment(request, before, after)
    is_plain = "plain" in request.GET
    find = backend.diff_with_table if is_plain else backend.known_diff
    found = find(before, after, name, alignment)
    asked = plain.Asked(name, request.GET.get("rules", ""))
    return {
        "gone": f"{why_missing(before, after, wanted)}; {name} is shown." if wanted and wanted != name else "",
        "plain": plain.page(before, after, asked, alignment, found) if found and found.table else None,
        "merge_url": "" if found and found.table else asked.page(),
        "plain_query": asked.page() if is_plain else "",
        "file_query": asked.file(),
    }


def _alignment(request: HttpRequest, before: Side, after: Side) -> Alignment:
    try:
        return alignment_of(request.GET.get("rules", ""), before, after)
    except BadAlignment as error:
        raise Refusal(str(error)) from None


@login_required
@require_POST
def save_alignment(request: HttpRequest, project: str) -> HttpResponse:
    """The rules of a page become those of its project. 204, or 422 and why."""
    found = project_or_404(request, project)
    require(found, person(request), Role.MEMBER)
    if "rules" not in request.POST:
        return HttpResponse("Say which rules: none are written as “exact”.", status=422, content_type="text/plain")
    try:
        save_rules(found, request.POST["rules"])
    except BadAlignment as error:
        return HttpResponse(str(error), status=422, content_type="text/plain")
    return HttpResponse(status=204)


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
    key = key_of(*sides, value_type)
    found = DiffPayload.objects.filter(**{name: key[name] for name in ("before", "after", "since", "value_type")})
    return next((row for row in found.defer("overview", "table") if row.tag == tag), None)


@login_required
@require_GET
def export(request: HttpRequest, before: str, after: str, form: str) -> HttpResponseBase:
    """A difference written in a form that other tools read; the query says of what and how."""
    query = request.GET.dict()
    try:
        sides = find_side(person(request), before), find_side(person(request), after)
        alignment = _alignment(request, *sides)
        if form == offline.FORM:
            return difference_page(request, *sides, query.get("value_type", ""), alignment)
        return difference_file(*sides, form, Wanted.of(query, alignment))
    except (NoSuchSide, NothingToCompare, NoSuchExport, NotNormalized, BadPicture) as error:
        raise Refusal(str(error)) from None


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
