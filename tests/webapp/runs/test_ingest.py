"""The ingest worker: a snapshot becomes a stored tree and payloads, once, whoever dies on the way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from tracer.profile import tree
from webapp.runs import states, uploads
from webapp.runs.ingest import MAX_ATTEMPTS, ingest_snapshot
from webapp.runs.models import Payload, Run, Snapshot, State

ATTEMPT = "attempt-0001"


def _stored(run: Run, seq: int, body: bytes) -> Snapshot:
    """On disk, and not read yet."""
    import io

    with uploads.received(io.BytesIO(body)) as received:
        return uploads.keep_snapshot(run, seq, received, elapsed_s=float(seq), encoding="").snapshot


def test_the_stored_tree_has_every_byte(recorded_run: Callable[..., Run]) -> None:
    snapshot = recorded_run().snapshots.get()

    with default_storage.open(snapshot.tree) as file:
        stored = tree.unpack(file.read())
    assert dict(stored.rows())[("main", "serve", "leak_cache", "malloc")] == [94208, 23, 94208, 23]
    assert [row["total"] for row in snapshot.value_types] == [98432, 26, 102656, 29]
    assert (snapshot.nodes, snapshot.stacks, snapshot.format, snapshot.revision) == (9, 3, "folded", 1)
    assert snapshot.capture["events"] == 300


def test_every_value_type_has_a_payload_with_its_total(
    recorded_run: Callable[..., Run], payload_header: Callable[[bytes], dict[str, Any]]
) -> None:
    payloads = Payload.objects.filter(snapshot__run=recorded_run())

    totals = {payload.value_type: payload_header(bytes(payload.overview))["total"] for payload in payloads}
    assert totals == {
        "outstanding_bytes": 98432, "outstanding_objects": 26, "allocated_bytes": 102656, "allocated_objects": 29,
    }  # fmt: skip
    assert all(payload.overview_is_full and not payload.file for payload in payloads)


def test_a_large_tree_has_an_overview_in_the_row_and_the_rest_in_a_file(
    uploaded_run: Callable[..., Run], payload_header: Callable[[bytes], dict[str, Any]]
) -> None:
    lines = [b"main;f%d;g 1" % number for number in range(20_000)] + [b"main;big 100000000"]

    run = uploaded_run(b"\n".join(lines) + b"\n")

    payload = Payload.objects.get(snapshot__run=run)
    overview = payload_header(bytes(payload.overview))
    with default_storage.open(payload.file) as file:
        full = payload_header(file.read())
    assert not payload.overview_is_full
    assert (full["n"], full["overview"]) == (40_003, None)
    assert overview["overview"]["full_nodes"] == 40_003
    assert overview["n"] < 10
    assert overview["total"] == full["total"] == 100_020_000


def test_a_run_is_ready_when_its_last_snapshot_is_read(
    claimed_run: Callable[..., Run], leaky_folded: bytes, ingest: Callable[[Run], None]
) -> None:
    run = claimed_run(duration_s=20.0, snapshot_every_s=10.0)
    first = _stored(run, 1, b"main 1\n")
    ingest_snapshot(first.pk)
    _stored(run, 2, leaky_folded)
    states.finish(run, ATTEMPT, "done", snapshots=2)
    run.refresh_from_db()
    assert run.state == State.INGESTING

    ingest(run)

    run.refresh_from_db()
    assert (run.state, run.total, run.value_type, run.snapshot_count) == (State.READY, 98432.0, "outstanding_bytes", 2)


def test_snapshots_may_be_read_in_any_order(claimed_run: Callable[..., Run], leaky_folded: bytes) -> None:
    run = claimed_run()
    early, late = _stored(run, 1, b"main 1\n"), _stored(run, 2, leaky_folded)

    ingest_snapshot(late.pk)
    ingest_snapshot(early.pk)

    run.refresh_from_db()
    assert run.total == 98432.0


def test_one_snapshot_that_can_not_be_read_spoils_no_run(
    claimed_run: Callable[..., Run], leaky_folded: bytes, ingest: Callable[[Run], None]
) -> None:
    run = claimed_run()
    _stored(run, 1, b"\x00\x01" * 500)
    _stored(run, 2, leaky_folded)
    states.finish(run, ATTEMPT, "done", snapshots=2)

    ingest(run)

    run.refresh_from_db()
    errors = list(run.snapshots.values_list("error", flat=True))
    assert (run.state, run.total) == (State.READY, 98432.0)
    assert errors[0].startswith("the file is none of the known formats")
    assert errors[1] == ""


def test_a_run_of_which_nothing_can_be_read_has_failed_in_words(
    claimed_run: Callable[..., Run], ingest: Callable[[Run], None]
) -> None:
    run = claimed_run()
    _stored(run, 1, b"\x00\x01" * 500)
    states.finish(run, ATTEMPT, "done", snapshots=1)

    ingest(run)

    run.refresh_from_db()
    assert run.state == State.FAILED
    assert run.reason.startswith("the file is none of the known formats")


def test_a_snapshot_in_another_workers_hand_is_left_alone(claimed_run: Callable[..., Run], leaky_folded: bytes) -> None:
    snapshot = _stored(claimed_run(), 1, leaky_folded)
    Snapshot.objects.filter(pk=snapshot.pk).update(ingest_claimed_at=timezone.now(), ingest_attempts=1)

    ingest_snapshot(snapshot.pk)

    snapshot.refresh_from_db()
    assert (snapshot.ingested_at, snapshot.ingest_attempts) == (None, 1)


def test_a_snapshot_whose_worker_died_is_read_by_the_next(claimed_run: Callable[..., Run], leaky_folded: bytes) -> None:
    snapshot = _stored(claimed_run(), 1, leaky_folded)
    long_ago = timezone.now() - timedelta(minutes=1)
    Snapshot.objects.filter(pk=snapshot.pk).update(ingest_claimed_at=long_ago, ingest_attempts=1)

    ingest_snapshot(snapshot.pk)

    snapshot.refresh_from_db()
    assert (snapshot.revision, snapshot.ingest_attempts) == (1, 2)


def test_a_file_that_ends_every_worker_is_given_up(claimed_run: Callable[..., Run], leaky_folded: bytes) -> None:
    snapshot = _stored(claimed_run(), 1, leaky_folded)
    long_ago = timezone.now() - timedelta(minutes=1)
    Snapshot.objects.filter(pk=snapshot.pk).update(ingest_claimed_at=long_ago, ingest_attempts=MAX_ATTEMPTS)

    ingest_snapshot(snapshot.pk)

    snapshot.refresh_from_db()
    assert snapshot.revision == 0
    assert snapshot.error == "reading it ended the worker 3 times, it may need too much memory"


def test_a_worker_that_dies_between_files_and_rows_leaves_nothing_twice(
    claimed_run: Callable[..., Run], leaky_folded: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = _stored(claimed_run(), 1, leaky_folded)
    with monkeypatch.context() as patched:
        patched.setattr(Run.objects.__class__, "select_for_update", _die, raising=False)
        with pytest.raises(OSError, match="the machine stops"):
            ingest_snapshot(snapshot.pk)
    Snapshot.objects.filter(pk=snapshot.pk).update(ingest_claimed_at=timezone.now() - timedelta(minutes=1))

    ingest_snapshot(snapshot.pk)

    snapshot.refresh_from_db()
    folder = default_storage.path(f"trees/{snapshot.run.run_id}")
    assert snapshot.revision == 1
    assert default_storage.listdir(folder)[1] == [snapshot.tree.rsplit("/", 1)[1]]
    assert Payload.objects.count() == 4


def _die(*args: Any, **kwargs: Any) -> Any:
    raise OSError("the machine stops")
