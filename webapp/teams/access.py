"""Who may open what: a project for at least a role, or 404 for strangers and 403 with words for too low a role."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from webapp.teams.models import Project, Role, Team, User

NEEDS = {
    Role.MEMBER: "You see this project as a viewer. Recording, uploading and stopping are for members: ask an owner.",
    Role.OWNER: "This is for owners of the project. Ask one of them to do it, or to make you an owner.",
}


def person(request: HttpRequest) -> User:
    """Who is signed in; for views behind `login_required` only."""
    assert isinstance(request.user, User)
    return request.user


def project_or_404(request: HttpRequest, slug: str) -> Project:
    """The project of that name if the person sees it: another team's project answers as one that is not there."""
    projects = Project.objects.visible_to(request.user).select_related("team")
    return get_object_or_404(projects, slug=slug)


def require(project: Project | None, user: User, at_least: Role) -> None:
    """PermissionDenied, with what to do about it, for a person who sees the project but has a lower role."""
    if project is None:
        raise Http404
    if not project.allows(user, at_least):
        raise PermissionDenied(NEEDS[at_least])


def owns_team(user: User, team: Team) -> bool:
    return team.memberships.filter(user=user, role=Role.OWNER).exists()
