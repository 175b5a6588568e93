"""What every template may use."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest

from tracer import __version__
from webapp.teams.models import Project

ROOM_OF_PAGE = {
    "project": "runs",
    "run": "runs",
    "run_delete": "runs",
    "new_run": "runs",
    "upload": "runs",
    "project_upload": "runs",
    "compare_pick": "compare",
    "compare": "compare",
    "hosts": "hosts",
}


THEME_COOKIE = "memflame_theme"  # as frontend/js/theme.js writes it
THEMES = ("light", "dark")


def site(request: HttpRequest) -> dict[str, object]:
    match = request.resolver_match
    theme = request.COOKIES.get(THEME_COOKIE)
    return {
        "theme": theme if theme in THEMES else "",  # none: as the system has it
        "version": __version__,
        "projects": _projects_of(request),
        "room": ROOM_OF_PAGE.get(match.url_name or "") if match else None,
    }


def _projects_of(request: HttpRequest) -> Callable[[], list[Project]]:
    """The switcher's list: asked for by base.html only, so a page without it (an htmx part) costs no query."""

    def projects() -> list[Project]:
        user = getattr(request, "user", None)  # an error page may be rendered before the middleware ran
        return list(Project.objects.visible_to(user).order_by("name")) if user is not None else []

    return projects
