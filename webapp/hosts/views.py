"""Pages of hosts: what their agents can do, enrolling one, and the live list of processes."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from webapp.hosts import abilities
from webapp.hosts.forms import EnrolForm
from webapp.hosts.models import Host
from webapp.teams.access import owns_team, person, project_or_404
from webapp.teams.models import Project


@login_required
@never_cache
def hosts(request: HttpRequest, project: str) -> HttpResponse:
    found = project_or_404(request, project)
    if request.method == "POST":
        return _enrol(request, found)
    return _hosts_page(request, found, EnrolForm())


def _enrol(request: HttpRequest, project: Project) -> HttpResponse:
    """Answers with the page itself: the agent's token is kept nowhere, so it can't be shown after a redirect."""
    if not owns_team(person(request), project.team):
        raise PermissionDenied(f"Hosts belong to the team {project.team.name}: one of its owners enrols them.")
    form = EnrolForm(request.POST)
    if not form.is_valid():
        return _hosts_page(request, project, form)
    host, token = Host.enrol(project.team, form.cleaned_data["name"])
    return _hosts_page(request, project, EnrolForm(), enrolled=host, token=token)


def _hosts_page(
    request: HttpRequest, project: Project, form: EnrolForm, *, enrolled: Host | None = None, token: str = ""
) -> HttpResponse:
    found = list(Host.objects.of_project(project).order_by("name"))
    context = {
        "project": project,
        "rows": [_row(host) for host in found],
        "reporting": sum(host.is_reporting for host in found),
        "can_enrol": owns_team(person(request), project.team),
        "form": form,
        "enrolled": enrolled,
        "token": token,
    }
    return render(request, "hosts/hosts.html", context, status=422 if form.errors else 200)


def _row(host: Host) -> dict[str, Any]:
    return {"host": host, "reach": abilities.reach_of(host), "doctor": abilities.diagnosis_of(host)}


@login_required
@require_GET
def host_processes(request: HttpRequest, project: str, host_id: str) -> HttpResponse:
    """The rows of the New-run page's table, as of the last heartbeat; the chosen process stays chosen."""
    found = project_or_404(request, project)
    host = get_object_or_404(Host.objects.of_project(found), host_id=host_id)
    chosen = request.GET.get("process", "")
    processes = abilities.processes_of(host, text=request.GET.get("find", ""), chosen=chosen)
    context = {"project": found, "host": host, "processes": processes, "chosen": chosen}
    return render(request, "hosts/processes.html", context)
