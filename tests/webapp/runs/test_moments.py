"""A file with several points in time: one run, a snapshot for each, the file kept once, whoever dies on the way."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tracer.profile.model import Limits
from webapp.compare.sides import find_side
from webapp.runs import ingest as ingest_module
from webapp.runs import uploads
from webapp.runs.ingest import ingest_snapshot
from webapp.runs.models import Payload, Run, Snapshot, State
from webapp.runs.received import profile_of

pytestmark = pytest.mark.django_db(transaction=True)

DATA = Path(__file__).parents[2] / "data"
MASSIF = (DATA / "massif" / "growth-between-trees.massif").read_bytes()
MEMLEAK = (DATA / "memleak" / "three-reports-over-midnight.txt").read_bytes()


def files_of(storage: Path) -> set[str]:
    return {str(path.relative_to(storage)) for path in storage.rglob("*") if path.is_file()}


@pytest.fixture
def waiting_run(story: Any) -> Callable[..., Run]:
    """An upload that is stored and not read yet."""

    def upload(body: bytes = MASSIF) -> Run:
        with uploads.received(io.BytesIO(body)) as received:
            return uploads.keep_upload(uploads.Upload(story.search, story.alice), received, encoding="")

    return upload


def test_each_moment_becomes_a_snapshot_of_one_run(uploaded_run: Callable[..., Run], storage: Path) -> None:
    run = uploaded_run(MEMLEAK)

    snapshots = list(run.snapshots.all())
    assert (run.state, run.snapshot_count, run.expected_snapshots) == (State.READY, 3, 3)
    assert [(each.seq, each.label, each.elapsed_s) for each in snapshots] == [
        (1, "report of 23:59:55", 0.0), (2, "report of 00:00:00", 5.0), (3, "report of 00:00:05", 10.0),
    ]  # fmt: skip
    assert [each.total_of("outstanding_bytes") for each in snapshots] == [640, 1408, 192]
    assert [each.skipped_lines for each in snapshots] == [0, 1, 0]
    assert Payload.objects.count() == 6
    assert len({each.received for each in snapshots}) == 1
    assert sum(each.received_bytes for each in snapshots) == len(MEMLEAK)
    assert len([name for name in files_of(storage) if name.startswith("received/")]) == 1


def test_the_peak_is_shown_and_not_the_last(uploaded_run: Callable[..., Run], story: Any) -> None:
    run = uploaded_run(MASSIF)

    assert (run.snapshot_count, run.shown_seq, run.total) == (4, 3, 12288.0)
    assert find_side(story.alice, run.run_id).snapshot.label == "massif snapshot 2 (peak)"
    assert find_side(story.alice, f"{run.run_id}@4").snapshot.total_of("heap_bytes") == 12300


def test_a_snapshot_is_read_again_as_its_own_moment(uploaded_run: Callable[..., Run]) -> None:
    totals = [profile_of(snapshot).total() for snapshot in uploaded_run(MASSIF).snapshots.all()]

    assert totals == [0, 4096, 12288, 12300]


def test_the_page_names_the_moment_that_it_shows(
    uploaded_run: Callable[..., Run], story: Any, as_user: Callable[..., Client]
) -> None:
    run = uploaded_run(MASSIF)

    page = as_user(story.alice).get(f"/runs/{run.run_id}").content.decode()
    view = as_user(story.alice).get(f"/api/v1/runs/{run.run_id}").json()

    assert "massif snapshot 2 (peak)" in page
    assert f"/runs/{run.run_id}/payload/3/heap_bytes/" in page
    assert (view["shown_seq"], view["snapshots"][0]["label"]) == (3, "massif snapshot 0")


def test_deleting_the_run_deletes_all_that_was_made_of_its_file(
    uploaded_run: Callable[..., Run], storage: Path
) -> None:
    run = uploaded_run(MASSIF)

    uploads.delete_run(run)

    assert (files_of(storage), Snapshot.objects.count()) == (set(), 0)


@pytest.mark.parametrize("stored", [1, 2, 3])
def test_a_worker_that_dies_between_two_moments_doubles_nothing(
    waiting_run: Callable[..., Run], storage: Path, monkeypatch: pytest.MonkeyPatch, stored: int
) -> None:
    run = waiting_run()
    first = run.snapshots.get()
    with monkeypatch.context() as patched:
        patched.setattr(ingest_module, "_sibling", dies_after(stored - 1, ingest_module._sibling))
        with pytest.raises(OSError, match="the machine stops"):
            ingest_snapshot(first.pk)
    run.refresh_from_db()
    assert (run.state, run.snapshots.count(), run.snapshots.waiting().count()) == (State.INGESTING, stored, 1)
    Snapshot.objects.filter(pk=first.pk).update(ingest_claimed_at=timezone.now() - timedelta(minutes=1))

    ingest_snapshot(first.pk)

    run.refresh_from_db()
    assert (run.state, run.snapshot_count, Payload.objects.count()) == (State.READY, 4, 4)
    named = {name for snapshot in run.snapshots.all() for name in snapshot.file_names()}
    assert files_of(storage) == named


def dies_after(count: int, do: Callable[..., Any]) -> Callable[..., Any]:
    calls = iter(range(count))

    def call(*args: Any) -> Any:
        if next(calls, None) is None:
            raise OSError("the machine stops")
        return do(*args)

    return call


def test_a_worker_that_lost_its_claim_writes_nothing_more(
    waiting_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = waiting_run()
    first = run.snapshots.get()

    def taken_over(*args: Any) -> Snapshot:
        monkeypatch.undo()
        Snapshot.objects.filter(pk=first.pk).update(ingest_claimed_at=timezone.now() - timedelta(minutes=1))
        ingest_snapshot(first.pk)  # by another worker, all of it
        return ingest_module._sibling(*args)

    monkeypatch.setattr(ingest_module, "_sibling", taken_over)
    ingest_snapshot(first.pk)

    run.refresh_from_db()
    assert (run.state, run.snapshot_count, Payload.objects.count()) == (State.READY, 4, 4)


def test_a_file_that_breaks_off_keeps_none_of_its_moments(waiting_run: Callable[..., Run], storage: Path) -> None:
    run = waiting_run(MASSIF[: MASSIF.index(b"  n0: 8192")])

    ingest_snapshot(run.snapshots.get().pk)

    run.refresh_from_db()
    snapshot = run.snapshots.get()
    assert (run.state, snapshot.revision, Payload.objects.count()) == (State.FAILED, 0, 0)
    assert "the tree of snapshot 2 has fewer nodes than it says" in snapshot.error
    assert files_of(storage) == {snapshot.received}


def test_more_moments_than_a_run_may_have_are_refused(waiting_run: Callable[..., Run], settings: Any) -> None:
    settings.LIMITS = Limits(moments=3)
    run = waiting_run()

    ingest_snapshot(run.snapshots.get().pk)

    snapshot = run.snapshots.get()
    assert snapshot.error == "number of points in time is more than 3, the limit is 3"
    assert snapshot.is_over_limit
