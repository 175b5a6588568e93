"""The demo project on a machine that can't record: bundled captures, and a sentence that says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from webapp.hosts.models import Host
from webapp.runs.demo.fill import fill
from webapp.runs.demo.plan import RECORDINGS
from webapp.runs.models import Run

WHY_NOT = "not root, and no CAP_BPF"


@pytest.fixture
def unable_host(story: Any) -> Host:
    host: Host = story.host
    host.last_seen_at = timezone.now()
    host.facts = {"collectors": {recording.collector: WHY_NOT for recording in RECORDINGS}}
    host.save()
    return host


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    path = tmp_path / "leaky_service"
    path.touch()
    return path


def test_captures_stand_in_where_nothing_can_be_recorded(
    story: Any, unable_host: Host, binary: Path, ingest: Any
) -> None:
    said = fill(story.search, unable_host.name, binary)

    runs = Run.objects.filter(project=story.search)
    for run in runs:
        ingest(run)
    assert f"{len(RECORDINGS)} bundled captures were stored: {WHY_NOT}" == said
    assert {(run.state, run.deploy) for run in runs.all()} == {("ready", "2026.11.1"), ("ready", "2026.11.2")}
    assert {run.collector for run in runs.all()} == {"malloc", "brk", "mmap", "page_faults"}


def test_the_project_says_why(story: Any, unable_host: Host, binary: Path) -> None:
    fill(story.search, unable_host.name, binary)

    story.search.refresh_from_db()
    assert story.search.notice.startswith(f"Nothing can be recorded on this machine: {WHY_NOT}.")


def test_filling_again_adds_nothing(story: Any, unable_host: Host, binary: Path) -> None:
    fill(story.search, unable_host.name, binary)

    assert fill(story.search, unable_host.name, binary) == "the demo project is filled already"
    assert Run.objects.filter(project=story.search).count() == len(RECORDINGS)


def test_the_grown_function_is_in_both_captures(story: Any, unable_host: Host, binary: Path) -> None:
    sizes = []
    for version in (1, 2):
        lines = next(item for item in RECORDINGS if item.version == version).capture.read_text().splitlines()
        sizes.append(next(int(line.split()[1]) for line in lines if "session_new;malloc " in line))

    assert sizes[1] > 2 * sizes[0] > 0
