"""Heartbeats: what a host can do and which processes run on it, every few seconds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema
from pydantic import AfterValidator

from tracer import protocol
from webapp.hosts.auth import agent_auth, host_of
from webapp.hosts.models import Host
from webapp.teams.models import Project

router = Router(auth=agent_auth, tags=["agent"])

MAX_PROCESSES = 4000
MAX_COMMAND_CHARACTERS = 300
MAX_CHECKS = 100


Text = Annotated[str, AfterValidator(lambda text: text.replace("\0", " ").strip())]
"""What a host says in words; PostgreSQL takes no NUL, which separates the arguments of a command line."""


class ProcessIn(Schema):
    pid: int = Field(gt=0, lt=1 << 31)
    start_time: int = Field(ge=0, lt=1 << 63, description="Clock ticks since boot, field 22 of /proc/PID/stat")
    command: Text
    user: Text = ""
    rss_bytes: int = Field(0, ge=0, lt=1 << 63)
    started_at: Text = Field("", description="ISO 8601")

    def as_row(self) -> dict[str, Any]:
        return self.dict() | {"command": self.command[:MAX_COMMAND_CHARACTERS]}


class CheckIn(Schema):
    """One line of `memflame doctor`."""

    name: Text = Field(max_length=100)
    state: Literal["ok", "warning", "failure"]
    text: Text = Field("", max_length=500)
    mend: Text = Field("", max_length=500, description="A command, or what else helps")


class HostFacts(Schema):
    kernel: Text = ""
    distribution: Text = ""
    collectors: dict[Text, Text] = Field(
        default_factory=dict, description='By name: "" or why this host can not run it'
    )
    perf: dict[Text, Text] = Field(
        default_factory=dict, description='By collector: "" or why this host can not run it by perf, without bcc'
    )
    checks: list[CheckIn] = Field(
        default_factory=list, max_length=MAX_CHECKS, description="What `memflame doctor` says of this host"
    )


class HeartbeatIn(Schema):
    agent_version: Text = Field("", max_length=40)
    facts: HostFacts = Field(default_factory=HostFacts)
    processes: list[ProcessIn] = Field([], max_length=MAX_PROCESSES)


class HeartbeatOut(Schema):
    host_id: str
    queue: str = Field(description="Celery queue of this host's runs")
    project_count: int = Field(description="Projects that may record on this host")


@router.post("/agent/heartbeat", response=HeartbeatOut, summary="Say that the agent lives, and what it sees")
def heartbeat(request: HttpRequest, body: HeartbeatIn) -> dict[str, Any]:
    host, now = host_of(request), timezone.now()
    Host.objects.filter(pk=host.pk).update(
        last_seen_at=now,
        agent_version=body.agent_version,
        facts=body.facts.dict(),
        processes=[process.as_row() for process in body.processes],
        processes_at=now,
    )
    projects = Project.objects.filter(team=host.team_id).count()
    return {"host_id": host.host_id, "queue": protocol.host_queue(host.host_id), "project_count": projects}
