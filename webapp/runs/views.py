"""Pages of runs: a project's dashboard, stopping, keeping and deleting a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from webapp.hosts.models import Host
from webapp.runs import dashboard, due, listing, states, uploads
from webapp.runs.models import Run, RunLabel, RunQuerySet, UnnamedModule
from webapp.teams.access import person, project_or_404, require
from webapp.teams.models import Project, Role, User

STOP_WORDS: Mapping[str, Literal["stop", "cancel"]] = {"stop": "stop", "cancel": "cancel"}


@login_required
@require_GET
def project(request: HttpRequest, project: str) -> HttpResponse:
    found = project_or_404(request, project)
    runs = Run.objects.visible_to(request.user).filter(project=found)
    if getattr(request, "htmx", False):
        return render(request, "runs/rows.html", _rows(request, runs))
    key_numbers = listing.key_numbers(runs)
    context = {
        "project": found,
        "can_record": found.allows(request.user, Role.MEMBER),
        "numbers": key_numbers,
        "hosts": _hosts_of(found),
        "is_new": key_numbers.newest is None,
        "is_older": bool(request.GET.get("cursor")),
        "first_page": dashboard.at_cursor(request.GET, ""),
        "chips": dashboard.chips(request.GET),
        "menus": dashboard.menus(request.GET, listing.filter_choices(runs)),
        "query": {name: request.GET.get(name, "") for name in ("text", "since", "until")}
        | {"labels": [label for label in request.GET.getlist("label") if label.strip()]},
    }
    try:
        context |= _rows(request, runs)
    except listing.BadFilter as error:
        context |= {"bad_filter": str(error), "page": listing.RunPage([], "")}
        return render(request, "runs/project.html", context, status=422)
    return render(request, "runs/project.html", context)


def _rows(request: HttpRequest, runs: RunQuerySet) -> dict[str, object]:
    """The page of runs in one query; BadFilter says what can't be read."""
    filters = listing.RunFilters.from_query(request.GET)
    page = listing.page_of(runs, filters, cursor=request.GET.get("cursor", ""))
    return {
        "page": page,
        "has_active": any(run.is_active for run in page.runs),
        "next_page": dashboard.at_cursor(request.GET, page.next_cursor),
    }


def _hosts_of(project: Project) -> dict[str, int]:
    hosts: Sequence[Host] = list(Host.objects.of_project(project).only("last_seen_at"))
    return {"total": len(hosts), "reporting": sum(host.is_reporting for host in hosts)}


@login_required
@require_POST
def run_stop(request: HttpRequest, run_id: str) -> HttpResponse:
    run = _run_or_404(request, run_id)
    require(run.project, person(request), Role.MEMBER)
    what = STOP_WORDS.get(request.POST.get("what", ""))
    if what is None:
        raise Http404("no such action")
    if not states.request_stop(run, what, by=person(request).username):
        messages.info(request, "The run had ended already: nothing was changed.")
    return redirect("run", run_id)


@login_required
@require_POST
def run_save(request: HttpRequest, run_id: str) -> HttpResponse:
    """Move a private preview into a project."""
    run = get_object_or_404(Run.objects.visible_to(request.user).filter(project=None), run_id=run_id)
    target = project_or_404(request, request.POST.get("project", ""))
    require(target, person(request), Role.MEMBER)
    if not _move_preview(run, target):
        raise Http404("the preview was saved or has expired meanwhile")
    messages.success(request, f"The run is saved to {target.name}, where all its members see it.")
    return redirect("run", run_id)


def _move_preview(run: Run, target: Project) -> bool:
    """Compare-and-set, since the sweep deletes previews whose day is over."""
    with transaction.atomic():
        is_moved = Run.objects.filter(pk=run.pk, project=None).update(project=target, preview_until=None) == 1
        RunLabel.objects.filter(run=run.pk).update(project=target)
    if is_moved:
        due.nudge(due.mark_changed(target.pk, UnnamedModule.objects.filter(snapshot__run=run.pk)))
    return is_moved


@login_required
def run_delete(request: HttpRequest, run_id: str) -> HttpResponse:
    """Ask on GET, delete on POST."""
    run = _run_or_404(request, run_id)
    _require_deleter(run, person(request))
    if request.method != "POST":
        return render(request, "runs/delete.html", {"run": run, "project": run.project})
    home = ("project", run.project.slug) if run.project else ("upload",)
    uploads.delete_run(run)
    messages.success(request, f"{run_id} is deleted, with its snapshots and what was received.")
    return redirect(*home)


def _run_or_404(request: HttpRequest, run_id: str) -> Run:
    runs = Run.objects.visible_to(request.user).select_related("project__team", "created_by")
    return get_object_or_404(runs, run_id=run_id)


def _require_deleter(run: Run, user: User) -> None:
    if not may_delete(run, user):
        raise PermissionDenied("Only who made a run, or an owner of its project, deletes it.")


def may_delete(run: Run, user: User) -> bool:
    """Whoever made a run, while a member, and the owners of its project."""
    if run.project is None:
        return True  # a preview: visible to its uploader only
    is_own = run.created_by_id == user.pk and run.project.allows(user, Role.MEMBER)
    return is_own or run.project.allows(user, Role.OWNER)
