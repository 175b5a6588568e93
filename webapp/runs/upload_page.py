"""The Upload page: files become a private preview, or a run of a project, by the same way as the API's uploads."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from tracer.profile.heap_names import grouped
from webapp.errors import ApiError
from webapp.middleware import release_upload_slot
from webapp.runs import uploads
from webapp.runs.forms import UploadForm
from webapp.runs.models import Run
from webapp.teams.access import person, project_or_404, require
from webapp.teams.models import Project, Role

MOST_PIDS_NAMED = 5


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
    """Store the files and wait until they are read; ApiError if one can't be, and then nothing of them is kept."""
    data = form.cleaned_data
    files, title = _in_order(data["file"])
    about = uploads.Upload(
        project,
        person(request),
        title=title,
        service=data["service"],
        deploy=data["deploy"],
        labels=data["labels"],
        files=len(files),
        file=_name(files[0]) if len(files) > 1 else "",
    )
    with uploads.received(files[0]) as body:
        run = uploads.keep_upload(about, body, encoding="")
    _keep_others(run, files[1:])
    release_upload_slot(request)
    return uploads.read_or_refused(run)


def _in_order(files: Sequence[UploadedFile[bytes]]) -> tuple[list[UploadedFile[bytes]], str]:
    """As they were chosen, dumps of jemalloc by their numbers; and what the run is called."""
    groups = grouped([_name(file) for file in files])
    if len(groups) > 1:
        pids = _listed([str(group.pid) for group in groups])
        raise ApiError(422, f"These are dumps of {len(groups)} processes ({pids}): upload those of one at a time.")
    ordered = [files[place] for place in groups[0].places]
    if len(ordered) == 1:
        return ordered, _name(ordered[0])
    return ordered, groups[0].title or f"{_name(ordered[0])} and {len(ordered) - 1} more"


def _listed(pids: Sequence[str]) -> str:
    return ", ".join([*pids[:MOST_PIDS_NAMED], *(["…"] if len(pids) > MOST_PIDS_NAMED else [])])


def _keep_others(run: Run, files: Sequence[UploadedFile[bytes]]) -> None:
    try:
        for number, file in enumerate(files, start=2):
            with uploads.received(file) as body:
                uploads.keep_file(run, number, body, encoding="", file=_name(file))
    except BaseException:
        uploads.delete_run(run)
        raise


def _name(file: UploadedFile[bytes]) -> str:
    return (file.name or "")[:200]


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
