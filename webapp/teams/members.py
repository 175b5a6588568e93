"""Members of a project and of its team: who has which role, and the changes that an owner may make."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from webapp.teams.access import owns_team
from webapp.teams.forms import IN_PROJECT, IN_TEAM
from webapp.teams.models import Membership, Project, ProjectMembership, Role, User


class NotAllowed(Exception):
    """A change that would lock everybody out, or that is another owner's to make; its text is shown."""


@dataclass(frozen=True, slots=True)
class Member:
    user: User
    role: Role
    scope: str  # IN_PROJECT or IN_TEAM
    can_change: bool


def members_of(project: Project, *, is_owner: bool, is_team_owner: bool) -> list[Member]:
    """All roles in the project by name of the person, the team's included; what the viewer owns is changeable."""
    of_team = project.team.memberships.select_related("user")
    of_project = project.memberships.select_related("user")
    rows = [Member(row.user, Role(row.role), IN_TEAM, is_team_owner) for row in of_team]
    rows += [Member(row.user, Role(row.role), IN_PROJECT, is_owner) for row in of_project]
    return sorted(rows, key=lambda row: (row.user.username, row.scope))


@transaction.atomic
def set_role(project: Project, editor: User, user: User, role: Role, scope: str) -> None:
    """Add the person, or give another role; NotAllowed says why not."""
    _check_editor(project, editor, scope)
    if scope == IN_TEAM:
        Membership.objects.update_or_create(team=project.team, user=user, defaults={"role": role})
    else:
        ProjectMembership.objects.update_or_create(project=project, user=user, defaults={"role": role})
    _check_owner_left(project)


@transaction.atomic
def remove(project: Project, editor: User, user: User, scope: str) -> None:
    _check_editor(project, editor, scope)
    if scope == IN_TEAM:
        Membership.objects.filter(team=project.team, user=user).delete()
    else:
        ProjectMembership.objects.filter(project=project, user=user).delete()
    _check_owner_left(project)


def _check_editor(project: Project, editor: User, scope: str) -> None:
    if scope == IN_TEAM and not owns_team(editor, project.team):
        raise NotAllowed(f"Only an owner of the team {project.team.name} changes roles in all of its projects.")


def _check_owner_left(project: Project) -> None:
    """Raised inside the transaction, so the change is undone."""
    if not project.team.memberships.filter(role=Role.OWNER).exists():
        raise NotAllowed(f"{project.team.name} needs an owner: make somebody else owner of the team first.")
