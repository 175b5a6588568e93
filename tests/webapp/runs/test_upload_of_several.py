"""Several files as one run: in any order, each once, and never ready before all have come and been read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from webapp.runs import sweep
from webapp.runs.models import Run, State

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("eager_worker")]

HEAPS = [f"main;serve;malloc {100 * number}\n".encode() for number in (1, 2, 3)]


def begin(ci: Any, files: int = 3, **headers: str) -> Any:
    path = f"/projects/search-api/uploads?files={files}&file=a.0.heap&name=a.heap"
    return ci.send(path, HEAPS[0], **headers)


def put(ci: Any, run: Run, number: int, body: bytes) -> Any:
    return ci.send(f"/runs/{run.run_id}/files/{number}?file=a.{number - 1}.heap", body, method="put")


def test_the_run_is_ready_when_the_last_file_has_come(ci: Any) -> None:
    started = begin(ci)
    run = Run.objects.get()
    early = put(ci, run, 3, HEAPS[2])
    run.refresh_from_db()
    assert (started.status_code, early.status_code, run.state) == (202, 202, State.INGESTING)
    assert (started.json()["missing"], early.json()["missing"]) == ([2, 3], [2])

    last = put(ci, run, 2, HEAPS[1])

    run.refresh_from_db()
    assert last.status_code == 201
    assert last.json() == {
        "run": run.run_id, "url": f"http://testserver/runs/{run.run_id}", "value_types": ["value"],
    }  # fmt: skip
    assert (run.state, run.total, run.snapshot_count) == (State.READY, 300.0, 3)
    assert list(run.snapshots.values_list("seq", "label")) == [(1, "a.0.heap"), (2, "a.1.heap"), (3, "a.2.heap")]


def test_each_try_may_be_repeated(ci: Any) -> None:
    begin(ci, **{"Idempotency-Key": "k-1"})
    run = Run.objects.get()
    put(ci, run, 2, HEAPS[1])

    again = begin(ci, **{"Idempotency-Key": "k-1"})
    put(ci, run, 2, HEAPS[1])
    last = put(ci, run, 3, HEAPS[2])

    assert again.json()["missing"] == [3]
    assert put(ci, run, 3, HEAPS[2]).json() == last.json()
    assert (Run.objects.count(), run.snapshots.count()) == (1, 3)


def test_other_bytes_under_a_number_that_is_there_are_refused(ci: Any) -> None:
    begin(ci)

    answer = put(ci, Run.objects.get(), 1, b"main 7\n")

    assert answer.status_code == 409
    assert "with other bytes" in answer.json()["error"]


def test_one_file_that_cannot_be_read_refuses_them_all(ci: Any, storage: Path) -> None:
    begin(ci, files=2)

    answer = put(ci, Run.objects.get(), 2, b"no stacks\n")

    assert answer.status_code == 422
    assert answer.json()["error"].startswith("a.heap was not stored: a.1.heap: ")
    assert not Run.objects.exists()
    assert not [path for path in storage.rglob("*") if path.is_file()]


def test_a_set_that_was_given_up_fails_and_takes_no_more(ci: Any) -> None:
    begin(ci)
    run = Run.objects.get()
    put(ci, run, 2, HEAPS[1])

    sweep.sweep(timezone.now() + timedelta(minutes=11))

    run.refresh_from_db()
    assert (run.state, run.reason) == (State.FAILED, "2 of 3 files of the upload arrived.")
    late = put(ci, run, 3, HEAPS[2])
    assert late.status_code == 409
    assert "waits for no more files" in late.json()["error"]


@pytest.mark.parametrize(("number", "status"), [(4, 422), (0, 422)])
def test_a_number_that_the_set_has_not_is_refused(ci: Any, number: int, status: int) -> None:
    begin(ci)

    assert put(ci, Run.objects.get(), number, HEAPS[1]).status_code == status


def test_a_set_larger_than_a_run_may_be_is_refused_with_limit_and_value(ci: Any) -> None:
    answer = begin(ci, files=2001)

    assert answer.status_code == 413
    assert answer.json()["error"] == "The upload would have 2,001 files, the limit is 2,000."


def test_another_project_can_not_add_to_it(ci: Any, other_ci: Any) -> None:
    begin(ci)

    assert put(other_ci, Run.objects.get(), 2, HEAPS[1]).status_code == 404


def test_of_several_files_each_gives_the_moment_that_is_shown_by_default(ci: Any) -> None:
    massif = (Path(__file__).parents[2] / "data" / "massif" / "growth-between-trees.massif").read_bytes()
    ci.send("/projects/search-api/uploads?files=2&file=a.massif", massif)
    run = Run.objects.get()

    put(ci, run, 2, massif)

    assert [each.total_of("heap_bytes") for each in run.snapshots.all()] == [12288, 12288]
