"""Fills the demo project: real runs on this machine, or the bundled captures where it can't record."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from django.db.models import QuerySet

from webapp.hosts.models import Host
from webapp.runs import states, uploads
from webapp.runs.demo.plan import RECORDINGS, SERVICE, Recording
from webapp.runs.models import ACTIVE, Run, State
from webapp.teams.models import Project

AGENT_WITHIN_S = 60.0
SEEN_WITHIN_S = 30.0  # a process appears in the live list with the agent's next heartbeat
RUN_WITHIN_S = 120.0
LOOK_EVERY_S = 0.5

Found = TypeVar("Found")


def fill(project: Project, host_name: str, binary: Path) -> str:
    """Record what is missing; answers a sentence for the log. Safe to call again after it was interrupted."""
    missing = [recording for recording in RECORDINGS if not _made(project, recording).exists()]
    if not missing:
        return "the demo project is filled already"
    host = _wait(lambda: _reporting_host(project, host_name), AGENT_WITHIN_S)
    reason = _why_not(host, binary, missing)
    if host is None or reason:
        _say_why(project, reason)
        _upload_captures(project, missing)
        return f"{len(missing)} bundled captures were stored: {reason}"
    for version in sorted({recording.version for recording in missing}):
        _record(project, host, binary, [recording for recording in missing if recording.version == version])
    return f"{len(missing)} runs of the demo service were recorded on this machine"


def _made(project: Project, recording: Recording) -> QuerySet[Run]:
    """Runs of the plan that are there or on their way."""
    of_plan = Run.objects.filter(project=project, service=SERVICE, deploy=recording.deploy)
    recorded = of_plan.filter(spec__collector=recording.collector)
    bundled = of_plan.filter(labels__bundled=recording.collector)
    return (recorded | bundled).exclude(state__in=[State.FAILED, State.CANCELLED])


def _reporting_host(project: Project, name: str) -> Host | None:
    host = Host.objects.of_project(project).filter(name=name).first()
    return host if host is not None and host.is_reporting and host.facts else None


def _why_not(host: Host | None, binary: Path, missing: Sequence[Recording]) -> str:
    """Why the plan can't be recorded here, or nothing."""
    if host is None:
        return "no agent reports from this machine"
    if not binary.exists():
        return f"the demo service was not built ({binary.name} is missing)"
    able: dict[str, str] = host.facts.get("collectors", {})
    return next((able.get(item.collector, "") for item in missing if able.get(item.collector, "")), "")


def _say_why(project: Project, reason: str) -> None:
    project.notice = (
        f"Nothing can be recorded on this machine: {reason}. "
        "The runs below are captures of the same service that come with memflame."
    )[: Project.NOTICE_CHARACTERS]
    project.save(update_fields=["notice"])


def _upload_captures(project: Project, missing: Sequence[Recording]) -> None:
    for recording in missing:
        upload = uploads.Upload(
            project, None, title=f"{SERVICE}, {recording.collector}", service=SERVICE, deploy=recording.deploy,
            labels={"bundled": recording.collector}, key=f"demo-{recording.version}-{recording.collector}",
        )  # fmt: skip
        with recording.capture.open("rb") as file, uploads.received(file) as body:
            uploads.keep_upload(upload, body, encoding="")


def _record(project: Project, host: Host, binary: Path, recordings: Sequence[Recording]) -> None:
    """One process, seen by each collector in turn, so that no recording tells of another's cost."""
    with _service(binary, recordings[0].version) as pid:
        process = _wait(lambda: _seen_process(host, pid), SEEN_WITHIN_S)
        if process is None:
            raise TimeoutError(f"the agent did not list process {pid} within {SEEN_WITHIN_S:.0f} s")
        for recording in recordings:
            run = states.request_run(
                project, None, host=host, process=process, collector=recording.collector,
                duration_s=recording.duration_s, snapshot_every_s=recording.snapshot_every_s,
                service=SERVICE, deploy=recording.deploy,
            )  # fmt: skip
            _wait(lambda run=run: _has_ended(run), RUN_WITHIN_S)  # type: ignore[misc]


@contextmanager
def _service(binary: Path, version: int) -> Iterator[int]:
    service = subprocess.Popen([str(binary), str(version)], stdout=subprocess.DEVNULL)
    try:
        yield service.pid
    finally:
        service.terminate()
        service.wait()


def _seen_process(host: Host, pid: int) -> dict[str, Any] | None:
    host.refresh_from_db(fields=["processes"])
    return host.process(pid)


def _has_ended(run: Run) -> bool:
    run.refresh_from_db(fields=["state"])
    return run.state not in ACTIVE


def _wait(look: Callable[[], Found], seconds: float) -> Found:
    """What `look` finds once it is truthy, or what it answers at the end of the time."""
    deadline = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_S)
    return found
