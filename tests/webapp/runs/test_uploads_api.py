"""Uploads by people, curl and CI: any known format in, the run's link out; private previews; retries of one upload."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from webapp.flamegraph.views import payload_url
from webapp.runs import ingest as ingest_module
from webapp.runs.models import Payload, Run, Snapshot, State

PATH = "/projects/search-api/uploads"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("eager_worker")]


def _files(storage: Path) -> list[Path]:
    return [path for path in storage.rglob("*") if path.is_file()]


def test_an_upload_answers_the_runs_link_once_it_is_read(ci: Any, leaky_folded: bytes) -> None:
    query = "?service=api&deploy=v42&label=region:eu&label=canary:yes&name=out.folded&at=2026-11-29T10:00:00Z"

    answer = ci.send(PATH + query, leaky_folded)

    run = Run.objects.get()
    assert answer.status_code == 201
    assert answer.json() == {
        "run": run.run_id,
        "url": f"http://testserver/runs/{run.run_id}",
        "value_types": ["outstanding_bytes", "outstanding_objects", "allocated_bytes", "allocated_objects"],
    }
    assert (run.state, run.service, run.deploy, run.title) == (State.READY, "api", "v42", "out.folded")
    assert (run.labels, run.total, run.unit) == ({"region": "eu", "canary": "yes"}, 98432.0, "bytes")
    assert run.started_at is not None and run.started_at.isoformat() == "2026-11-29T10:00:00+00:00"


def test_a_file_of_ours_tells_what_it_was_recorded_of(ci: Any, leaky_folded: bytes) -> None:
    ci.send(PATH, leaky_folded)

    run = Run.objects.get()
    assert (run.collector, run.command, run.title) == ("malloc", "search-api --port 80", "search-api --port 80")
    assert (run.elapsed_s, run.events) == (10.0, 300)


def test_a_compressed_body_is_read(ci: Any, leaky_folded: bytes) -> None:
    answer = ci.send(PATH, gzip.compress(leaky_folded), **{"Content-Encoding": "gzip"})

    assert answer.status_code == 201
    assert Run.objects.get().total == 98432.0


def test_a_browser_uploads_to_a_project(story: Any, as_user: Callable[..., Client], leaky_folded: bytes) -> None:
    answer = as_user(story.bob).post(f"/api/v1{PATH}", leaky_folded, content_type="application/octet-stream")

    assert answer.status_code == 201
    assert Run.objects.get().created_by == story.bob


def test_a_session_without_the_csrf_token_is_refused(story: Any, leaky_folded: bytes) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(story.bob)

    answer = browser.post(f"/api/v1{PATH}", leaky_folded, content_type="application/octet-stream")

    assert answer.status_code == 403
    assert "CSRF" in answer.json()["error"]
    assert not Run.objects.exists()


def test_a_viewer_may_not_upload(story: Any, as_user: Callable[..., Client], leaky_folded: bytes) -> None:
    answer = as_user(story.vera).post(f"/api/v1{PATH}", leaky_folded, content_type="application/octet-stream")

    assert answer.status_code == 403
    assert answer.json() == {"error": "In search-api this needs the role member."}
    assert not Run.objects.exists()


def test_a_retry_with_the_same_key_is_the_same_run(ci: Any, leaky_folded: bytes) -> None:
    first = ci.send(PATH, leaky_folded, **{"Idempotency-Key": "k-1"})

    again = ci.send(PATH, leaky_folded, **{"Idempotency-Key": "k-1"})

    assert again.json() == first.json()
    assert Run.objects.count() == 1


def test_the_same_key_with_other_bytes_is_refused(ci: Any, leaky_folded: bytes, storage: Path) -> None:
    ci.send(PATH, leaky_folded, **{"Idempotency-Key": "k-1"})
    before = len(_files(storage))

    answer = ci.send(PATH, b"main 1\n", **{"Idempotency-Key": "k-1"})

    assert answer.status_code == 409
    assert (Run.objects.count(), len(_files(storage))) == (1, before)


def test_two_projects_may_use_the_same_key(ci: Any, other_ci: Any, leaky_folded: bytes) -> None:
    ci.send(PATH, leaky_folded, **{"Idempotency-Key": "k-1"})

    answer = other_ci.send("/projects/ads-api/uploads", b"main 1\n", **{"Idempotency-Key": "k-1"})

    assert answer.status_code == 201


def test_of_four_tries_of_one_upload_at_once_one_run_comes(
    story: Any, ci: Any, leaky_folded: bytes, storage: Path
) -> None:
    start, answers = threading.Barrier(4), []

    def send() -> None:
        start.wait(10)
        try:
            answers.append(ci.send(PATH, leaky_folded, **{"Idempotency-Key": "k-1"}).json()["run"])
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert answers == [Run.objects.get().run_id] * 4
    assert len([path for path in _files(storage) if "received" in path.parts]) == 1


def test_a_preview_is_private_and_kept_a_day(story: Any, as_user: Callable[..., Client], leaky_folded: bytes) -> None:
    answer = as_user(story.alice).post(
        "/api/v1/uploads?name=heap.folded", leaky_folded, content_type="application/octet-stream"
    )

    run = Run.objects.get()
    assert answer.status_code == 201
    assert (run.project, run.created_by, run.title) == (None, story.alice, "heap.folded")
    assert run.preview_until is not None
    assert timedelta(hours=23) < run.preview_until - timezone.now() <= timedelta(days=1)
    assert as_user(story.alice).get(f"/api/v1/runs/{run.run_id}").status_code == 200
    assert as_user(story.bob).get(f"/api/v1/runs/{run.run_id}").status_code == 404


def test_a_token_can_not_make_a_private_preview(ci: Any, leaky_folded: bytes) -> None:
    answer = ci.send("/uploads", leaky_folded)

    assert answer.status_code == 401
    assert "signed-in person" in answer.json()["error"]


def test_a_snapshot_is_read_once_however_often_it_is_told(ci: Any, leaky_folded: bytes) -> None:
    ci.send(PATH, leaky_folded)
    snapshot = Snapshot.objects.get()

    ingest_module.ingest_snapshot(snapshot.pk)

    again = Snapshot.objects.get()
    assert (again.ingest_attempts, again.ingested_at) == (1, snapshot.ingested_at)


def test_a_perf_script_is_a_run_whose_events_are_value_types(
    ci: Any, story: Any, as_user: Callable[..., Client]
) -> None:
    sample = "svc 7/7 1.5: 100 {}:\n\t1189 load_index+0x1 (/srv/svc)\n\n"
    text = (
        sample.format("page-faults/period=100/") * 3
        + sample.format("cpu-clock")
        + "svc 7/7 1.6: PERF_RECORD_LOST lost 2\n"
    )

    answer = ci.send(f"{PATH}?name=perf.txt", text.encode())

    run = Run.objects.get()
    assert answer.json()["value_types"] == ["page-faults/period=100/", "cpu-clock"]
    assert (run.collector, run.total, run.unit, run.lost) == ("perf_script", 300.0, "faults", {"perf_lost": 2})
    page = as_user(story.alice).get(f"/runs/{run.run_id}")
    assert page.status_code == 200
    tag = Payload.objects.get(value_type="page-faults/period=100/").tag
    url = payload_url(run.run_id, 1, "page-faults/period=100/", tag, "overview")
    assert as_user(story.alice).get(url).status_code == 200
