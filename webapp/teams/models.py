"""Users, teams, projects with members and roles, and the tokens of projects."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime
from typing import TypeAlias

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import models
from django.db.models import Q
from django.utils import timezone

Viewer: TypeAlias = "User | AnonymousUser | ApiToken"
"""Who asks: a person, nobody, or a machine with a project's token (which acts as a member of that project)."""


class User(AbstractUser):
    pass


class Role(models.TextChoices):
    """Ordered: each may do what those before it may do."""

    VIEWER = "viewer", "Viewer: sees runs"
    MEMBER = "member", "Member: records, uploads, cancels"
    OWNER = "owner", "Owner: manages members, tokens and hosts"


_RANK = {Role.VIEWER: 1, Role.MEMBER: 2, Role.OWNER: 3}


class Team(models.Model):
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    members: models.ManyToManyField[User, Membership] = models.ManyToManyField(
        User, through="Membership", related_name="teams"
    )

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A role in all projects of a team."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.MEMBER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="one_membership")]


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, viewer: Viewer) -> ProjectQuerySet:
        """Projects of the user's teams, and their own memberships; a token's own; none for the anonymous."""
        if isinstance(viewer, ApiToken):
            return self.filter(pk=viewer.project_id)
        if not viewer.is_authenticated:
            return self.none()
        by_team = Membership.objects.filter(user=viewer).values("team")
        by_project = ProjectMembership.objects.filter(user=viewer).values("project")
        return self.filter(Q(team__in=by_team) | Q(pk__in=by_project))


class Project(models.Model):
    NOTICE_CHARACTERS = 300

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="projects")
    slug = models.SlugField(unique=True)  # names the project in URLs and on the command line
    name = models.CharField(max_length=100)
    notice = models.CharField(max_length=NOTICE_CHARACTERS, default="", blank=True)  # shown above the runs
    created_at = models.DateTimeField(default=timezone.now)
    objects = ProjectQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    def role_of(self, viewer: Viewer) -> Role | None:
        """The higher of the user's role in the team and in this project."""
        if isinstance(viewer, ApiToken):
            return Role.MEMBER if viewer.project_id == self.pk else None
        if not viewer.is_authenticated:
            return None
        roles = [
            *Membership.objects.filter(team=self.team_id, user=viewer).values_list("role", flat=True),
            *ProjectMembership.objects.filter(project=self, user=viewer).values_list("role", flat=True),
        ]
        return max((Role(role) for role in roles), key=_RANK.__getitem__, default=None)

    def allows(self, viewer: Viewer, at_least: Role) -> bool:
        role = self.role_of(viewer)
        return role is not None and _RANK[role] >= _RANK[at_least]


class ProjectMembership(models.Model):
    """A role in one project, for people outside of its team or with another role there."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="project_memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_project_membership")]


def new_secret(prefix: str) -> tuple[str, str, str]:
    """A fresh token: (token to show once, its 8-character key, the digest to store)."""
    key, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
    token = f"{prefix}_{key}_{secret}"
    return token, key, digest(token)


def digest(token: str) -> str:
    """SHA-256: the secret has 256 random bits, so a slow hash adds nothing."""
    return hashlib.sha256(token.encode()).hexdigest()


def token_key(token: str, prefix: str) -> str | None:
    parts = token.split("_", 2)
    return parts[1] if len(parts) == 3 and parts[0] == prefix else None


class ApiToken(models.Model):
    """Lets a machine upload to and read from one project."""

    PREFIX = "mfp"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    key = models.CharField(max_length=8, unique=True)
    digest = models.CharField(max_length=64)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    @classmethod
    def create(cls, project: Project, name: str, created_by: User | None) -> tuple[ApiToken, str]:
        """The row, and the token that nobody can show again."""
        token, key, hashed = new_secret(cls.PREFIX)
        return cls.objects.create(project=project, name=name, key=key, digest=hashed, created_by=created_by), token

    @classmethod
    def find(cls, token: str) -> ApiToken | None:
        """The live row of that token, or nothing; marks it used."""
        key = token_key(token, cls.PREFIX)
        row = cls.objects.select_related("project").filter(key=key, revoked_at=None).first() if key else None
        if row is None or not hmac.compare_digest(row.digest, digest(token)):
            return None
        row.mark_used(timezone.now())
        return row

    def mark_used(self, now: datetime) -> None:
        """At most once a minute, so that a busy token does not write on every request."""
        if self.last_used_at is None or (now - self.last_used_at).total_seconds() > 60:
            self.last_used_at = now
            self.save(update_fields=["last_used_at"])


class CodePreset(models.Model):
    """Which functions are a project's own code: the step "only my code" of a graph offers it by its name."""

    MOST = 30  # of a project: they stand in one menu
    PATTERN_CHARACTERS = 500

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="code_presets")
    name = models.CharField(max_length=60)
    pattern = models.CharField(max_length=PATTERN_CHARACTERS)  # a regular expression over names of functions

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_code_preset")]

    @classmethod
    def views_of(cls, project: Project | None) -> list[dict[str, str]]:
        """As the step has them: `title` and `pattern`."""
        rows = project.code_presets.all() if project else ()
        return [{"title": row.name, "pattern": row.pattern} for row in rows]


class SignInTry(models.Model):
    """A sign-in that failed in the last minutes, or whose password is being checked; see throttle.py."""

    name = models.CharField(max_length=64)  # hash of what was typed
    address = models.CharField(max_length=45)
    at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["name", "at"], name="try_name"),
            models.Index(fields=["address", "at"], name="try_address"),
            models.Index(fields=["at"], name="try_at"),
        ]
