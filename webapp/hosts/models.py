"""Hosts: machines with an agent, what it can do, and its live list of processes."""

from __future__ import annotations

import hmac
import secrets
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.utils import timezone

from webapp.teams.models import Membership, Project, ProjectMembership, Team, User, digest, new_secret, token_key


def new_host_id() -> str:
    return secrets.token_hex(6)


class HostQuerySet(models.QuerySet["Host"]):
    def visible_to(self, user: User | AnonymousUser) -> HostQuerySet:
        """Hosts of the teams whose projects the user sees."""
        if not user.is_authenticated:
            return self.none()
        by_membership = Membership.objects.filter(user=user).values("team")
        by_project = ProjectMembership.objects.filter(user=user).values("project__team")
        return self.filter(models.Q(team__in=by_membership) | models.Q(team__in=by_project))

    def of_project(self, project: Project) -> HostQuerySet:
        return self.filter(team=project.team_id)


class Host(models.Model):
    """A machine that an agent is enrolled for. Its queue is protocol.host_queue(host_id)."""

    PREFIX = "mfa"
    SILENT_AFTER = timedelta(seconds=15)

    host_id = models.CharField(max_length=12, unique=True, default=new_host_id)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="hosts")
    name = models.CharField(max_length=100)
    key = models.CharField(max_length=8, unique=True)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(null=True)
    agent_version = models.CharField(max_length=40, default="")
    facts = models.JSONField(default=dict)  # kernel, distribution, collectors: {name: "" or why not}, checks: doctor's
    processes = models.JSONField(default=list)  # [{pid, start_time, command, user, rss_bytes, started_at}]
    processes_at = models.DateTimeField(null=True)
    objects = HostQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_host_name_a_team")]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def enrol(cls, team: Team, name: str) -> tuple[Host, str]:
        """Make the host, or give it a new token; the token can't be shown again."""
        token, key, hashed = new_secret(cls.PREFIX)
        host, _ = cls.objects.update_or_create(team=team, name=name, defaults={"key": key, "digest": hashed})
        return host, token

    @classmethod
    def find(cls, token: str) -> Host | None:
        key = token_key(token, cls.PREFIX)
        host = cls.objects.filter(key=key).first() if key else None
        return host if host is not None and hmac.compare_digest(host.digest, digest(token)) else None

    @property
    def is_reporting(self) -> bool:
        return self.last_seen_at is not None and timezone.now() - self.last_seen_at < self.SILENT_AFTER

    def process(self, pid: int) -> dict[str, Any] | None:
        """The process of the live list with that pid."""
        return next((row for row in self.processes if row["pid"] == pid), None)
