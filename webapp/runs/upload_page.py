"""The Upload page: a file becomes a private preview, or a run of a project, by the same way as the API's uploads."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from webapp.errors import ApiError
from webapp.middleware import release_upload_slot
from webapp.runs import uploads
from webapp.runs.forms import UploadForm
from webapp.runs.models import Run
from webapp.teams.access import person, project_or_404, require
from webapp.teams.models import Project, Role


@login_required
def upload(request: HttpRequest, project: str | None = None) -> HttpResponse:
    found = project_or_404(request, project) if project else None
    if found is not None:
        require(found, person(request), Role.MEMBER)
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if not form.is_bound or not form.is_valid():
        return _page(request, found, form, status=422 if form.is_bound else 200)
    try:
        run = _keep(request, found, form)
    except ApiError as error:
        form.add_error("file", error.message)
        return _page(request, found, form, status=422)  # 413 is what the gate in front says, as text
    return _go_to(request, run)


def _keep(request: HttpRequest, project: Project | None, form: UploadForm) -> Run:
    """Store the file and wait until it is read; ApiError if it can't be, and then nothing of it is kept."""
    data = form.cleaned_data
    file = data["file"]
    about = uploads.Upload(
        project,
        person(request),
        title=file.name or "",
        service=data["service"],
        deploy=data["deploy"],
        labels=data["labels"],
    )
    with uploads.received(file) as body:
        run = uploads.keep_upload(about, body, encoding="")
    release_upload_slot(request)
    return uploads.read_or_refused(run)


def _go_to(request: HttpRequest, run: Run) -> HttpResponse:
    url = reverse("run", args=[run.run_id])
    return HttpResponseClientRedirect(url) if getattr(request, "htmx", False) else redirect(url)


def _page(request: HttpRequest, project: Project | None, form: UploadForm, *, status: int) -> HttpResponse:
    template = "runs/upload_form.html" if getattr(request, "htmx", False) else "runs/upload.html"
    context = {"project": project, "form": form, "previews": _previews(request) if project is None else []}
    return render(request, template, context, status=status)


def _previews(request: HttpRequest) -> list[Run]:
    """The person's own, newest first; they last a day, so there are few."""
    mine = Run.objects.visible_to(request.user).filter(project=None).order_by("-created_at")
    return list(mine[:20])
