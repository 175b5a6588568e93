"""A project's symbols on its settings page: the section's context, and deleting a file."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from webapp.runs import due
from webapp.teams.access import person, project_or_404, require
from webapp.teams.models import Role


@login_required
@require_POST
def symbols_delete(request: HttpRequest, project: str, sha256: str) -> HttpResponse:
    found = project_or_404(request, project)
    require(found, person(request), Role.OWNER)
    file = get_object_or_404(found.symbol_files, sha256=sha256)
    due.delete(file)
    messages.success(request, f"The symbols of {file.module} are deleted; runs that had their names lose them.")
    return redirect("project_settings", found.slug)
