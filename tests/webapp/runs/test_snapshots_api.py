"""Snapshots from agents: 201 means on disk, twice is once, other bytes are refused, late ones are taken."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from webapp.runs import states
from webapp.runs.models import Run, Snapshot, State

ClaimedRun = Callable[..., Run]
ATTEMPT = "attempt-0001"


def _put(agent: Any, run: Run, body: bytes, *, seq: int = 1, attempt: str = ATTEMPT, **headers: str) -> Any:
    path = f"/runs/{run.run_id}/snapshots/{seq}?attempt={attempt}&elapsed_s=2.5"
    return agent.send(path, body, method="PUT", **headers)


def test_201_means_that_the_bytes_are_on_disk(agent: Any, claimed_run: ClaimedRun, leaky_folded: bytes) -> None:
    run = claimed_run()

    answer = _put(agent, run, leaky_folded)

    snapshot = Snapshot.objects.get(run=run)
    assert answer.status_code == 201
    assert answer.json() == {"run": run.run_id, "seq": 1, "sha256": snapshot.received_sha256}
    with default_storage.open(snapshot.received) as file:
        assert file.read() == leaky_folded
    assert (snapshot.elapsed_s, snapshot.received_bytes) == (2.5, len(leaky_folded))


def test_the_same_bytes_again_are_the_same_snapshot(agent: Any, claimed_run: ClaimedRun, leaky_folded: bytes) -> None:
    run = claimed_run()
    _put(agent, run, leaky_folded)

    again = _put(agent, run, leaky_folded)

    assert again.status_code == 200
    assert Snapshot.objects.count() == 1


def test_other_bytes_under_the_same_number_are_refused(
    agent: Any, claimed_run: ClaimedRun, leaky_folded: bytes, storage: Path
) -> None:
    run = claimed_run()
    _put(agent, run, leaky_folded)

    answer = _put(agent, run, b"main 1\n")

    assert answer.status_code == 409
    assert answer.json()["error"].startswith("Snapshot 1 of r-")
    assert [path.read_bytes() for path in storage.rglob("*") if path.is_file()] == [leaky_folded]


def test_a_compressed_body_is_kept_as_it_came(agent: Any, claimed_run: ClaimedRun, leaky_folded: bytes) -> None:
    run = claimed_run()
    packed = gzip.compress(leaky_folded)

    _put(agent, run, packed, **{"Content-Encoding": "gzip"})

    snapshot = Snapshot.objects.get(run=run)
    assert snapshot.received_encoding == "gzip"
    with default_storage.open(snapshot.received) as file:
        assert file.read() == packed


def test_an_unknown_encoding_is_refused(agent: Any, claimed_run: ClaimedRun) -> None:
    answer = _put(agent, claimed_run(), b"main 1\n", **{"Content-Encoding": "br"})

    assert answer.status_code == 422
    assert answer.json() == {"error": "Content-Encoding is 'br', gzip, zstd or none is needed."}


def test_another_attempts_snapshot_is_refused(agent: Any, claimed_run: ClaimedRun) -> None:
    answer = _put(agent, claimed_run(), b"main 1\n", attempt="attempt-0002")

    assert answer.status_code == 409
    assert not Snapshot.objects.exists()


def test_another_hosts_agent_finds_no_run(other_agent: Any, claimed_run: ClaimedRun) -> None:
    assert _put(other_agent, claimed_run(), b"main 1\n").status_code == 404


def test_a_snapshot_past_the_limit_is_refused_with_the_limit(agent: Any, claimed_run: ClaimedRun) -> None:
    answer = _put(agent, claimed_run(), b"main 1\n", seq=2001)

    assert answer.status_code == 413
    assert answer.json() == {"error": "The snapshot's number is 2001, the limit is 2000."}


def test_snapshots_that_come_after_the_run_failed_are_kept(
    agent: Any, claimed_run: ClaimedRun, leaky_folded: bytes, ingest: Callable[[Run], None]
) -> None:
    run = claimed_run()
    _put(agent, run, leaky_folded, seq=1)
    states.fail_overdue(timezone.now() + timedelta(minutes=1))

    answer = _put(agent, run, leaky_folded, seq=2)
    ingest(run)

    assert answer.status_code == 201
    run.refresh_from_db()
    assert (run.state, run.snapshot_count) == (State.FAILED, 2)
    assert run.reason.endswith("The snapshot it sent is kept.")
    assert all(snapshot.revision == 1 for snapshot in run.snapshots.all())


def test_a_snapshot_that_comes_after_the_run_was_cancelled_is_kept(
    agent: Any, claimed_run: ClaimedRun, leaky_folded: bytes, ingest: Callable[[Run], None]
) -> None:
    run = claimed_run()
    states.request_stop(run, "cancel", by="alice")

    answer = _put(agent, run, leaky_folded)
    ingest(run)

    run.refresh_from_db()
    assert answer.status_code == 201
    assert (run.state, run.reason, run.snapshot_count) == (State.CANCELLED, "Cancelled by alice.", 1)


def test_a_run_that_is_stopped_keeps_what_it_has(
    agent: Any, claimed_run: ClaimedRun, leaky_folded: bytes, ingest: Callable[[Run], None]
) -> None:
    run = claimed_run()
    states.request_stop(run, "stop")
    _put(agent, run, leaky_folded)
    agent.post(f"/agent/runs/{run.run_id}/finish", {"attempt": ATTEMPT, "outcome": "stopped", "snapshots": 1})

    ingest(run)

    run.refresh_from_db()
    assert (run.state, run.total, run.stop_requested) == (State.READY, 98432.0, "stop")


@pytest.mark.django_db(transaction=True)
def test_of_six_senders_of_one_snapshot_at_once_one_stores_it(
    agent: Any, claimed_run: ClaimedRun, leaky_folded: bytes, storage: Path
) -> None:
    run = claimed_run()
    start, statuses = threading.Barrier(6), []

    def send() -> None:
        start.wait(10)
        try:
            statuses.append(_put(agent, run, leaky_folded).status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(statuses) == [200] * 5 + [201]
    assert [path.read_bytes() for path in storage.rglob("*") if path.is_file()] == [leaky_folded]


def test_a_body_that_was_cut_leaves_nothing(agent: Any, claimed_run: ClaimedRun, storage: Path, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 5

    answer = _put(agent, claimed_run(), b"main 1\n")

    assert answer.status_code == 413
    assert not Snapshot.objects.exists()
    assert [path for path in storage.rglob("*") if path.is_file()] == []
