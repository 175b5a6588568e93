"""The price tag of the New-run page: asked for by its form, a part of it, looked at again until it is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from webapp.hosts.abilities import key_of
from webapp.hosts.models import Host
from webapp.runs import estimates
from webapp.runs.models import Estimate
from webapp.runs.recording import FROM_LINK
from webapp.teams.access import person, project_or_404, require
from webapp.teams.models import Project, Role


class NotAsked(Exception):
    """Why no estimate could be asked for; the text is for the person."""


@login_required
@require_POST
def ask_estimate(request: HttpRequest, project: str) -> HttpResponse:
    """With script a part of the page; without, the page again, as it was filled in."""
    found = project_or_404(request, project)
    require(found, person(request), Role.MEMBER)
    host = get_object_or_404(Host.objects.of_project(found), host_id=request.POST.get("host", ""))
    context: dict[str, Any] = {"project": found, "estimate": None}
    try:
        context["estimate"] = _asked(found, request, host)
    except NotAsked as refusal:
        context["problem"] = str(refusal)
    if getattr(request, "htmx", False):
        return render(request, "runs/estimate.html", context)
    return _page_again(request, found, context)


def _asked(project: Project, request: HttpRequest, host: Host) -> Estimate:
    key = request.POST.get("process", "")
    if not key:
        raise NotAsked("Pick a process first.")
    process = next((row for row in host.processes if key_of(row) == key), None)
    if process is None:
        raise NotAsked("This process has ended, or its pid is another process now. Pick again from the list.")
    if not host.is_reporting:
        raise NotAsked(f"{host.name} does not report now, so nothing can be counted there.")
    try:
        return estimates.ask(project, person(request), host=host, process=process)
    except estimates.HostIsBusy as busy:
        raise NotAsked(str(busy)) from None


def _page_again(request: HttpRequest, project: Project, context: Mapping[str, Any]) -> HttpResponse:
    query = {name: request.POST[name] for name in ("host", *FROM_LINK) if request.POST.get(name)}
    if context["estimate"] is None:
        messages.error(request, context["problem"])
    else:
        query["estimate"] = context["estimate"].estimate_id
    return redirect(f"{reverse('new_run', args=[project.slug])}?{urlencode(query)}")


@login_required
@never_cache
@require_GET
def estimate(request: HttpRequest, project: str, estimate_id: str) -> HttpResponse:
    """The part of the page, which asks for itself again while the host counts."""
    found = project_or_404(request, project)
    seen = Estimate.objects.visible_to(request.user).filter(project=found).select_related("host")
    asked = get_object_or_404(seen, estimate_id=estimate_id)
    return render(request, "runs/estimate.html", {"project": found, "estimate": asked})
