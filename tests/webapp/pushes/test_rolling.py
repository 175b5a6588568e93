"""Pushes to rolling runs: one a series and day, open until it is silent, each push one snapshot."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from webapp.pushes import rolling
from webapp.pushes.models import RollingRun
from webapp.runs.ingest import ingest_snapshot
from webapp.runs.models import Run, Snapshot
from webapp.runs.sweep import do_chores


def test_the_pushes_of_an_instance_are_snapshots_of_one_run(alloy: Any, heap: Any, the_run: Callable[[], Run]) -> None:
    for blocks in (1, 2, 3):
        alloy.push(heap(blocks), service_name="shop", pod="shop-1")

    run = the_run()
    assert [row.total_of("inuse_space") for row in run.snapshots.all()] == [1000, 2000, 3000]
    assert (run.state, run.total, run.snapshot_count) == ("ready", 3000, 3)


def test_a_run_is_ready_with_the_first_push_that_was_read(alloy: Any, heap: Any) -> None:
    for blocks in (1, 2):
        alloy.push(heap(blocks), service_name="shop")

    ingest_snapshot(Snapshot.objects.get(seq=1).pk)

    assert Run.objects.get().state == "ready"


def test_a_retry_is_the_same_snapshot(alloy: Any, heap: Any) -> None:
    now = int(timezone.now().timestamp())
    for _ in range(2):
        answer = alloy.ingest(heap(), name="shop", format="pprof", **{"from": now - 10, "until": now})
        assert answer.status_code == 200

    assert Snapshot.objects.count() == 1


def test_the_same_bytes_of_the_next_interval_are_another_snapshot(alloy: Any, heap: Any) -> None:
    now = int(timezone.now().timestamp())
    for until in (now - 10, now):
        alloy.ingest(heap(), name="shop", format="pprof", **{"from": until - 10, "until": until})

    assert Snapshot.objects.count() == 2


def test_instances_have_runs_of_their_own(alloy: Any, heap: Any) -> None:
    for pod in ("shop-1", "shop-2"):
        alloy.push(heap(), service_name="shop", pod=pod)

    assert sorted(Run.objects.values_list("host_name", flat=True)) == ["shop-1", "shop-2"]


@pytest.mark.django_db(transaction=True)
def test_instances_that_push_at_the_same_moment_lose_nothing(alloy: Any, heap: Any) -> None:
    answers: list[int] = []

    def push(pod: str, first: int) -> None:
        try:
            for blocks in range(first, first + 4):
                answers.append(alloy.push(heap(blocks), service_name="shop", pod=pod).status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=push, args=(pod, first)) for pod in ("a", "b") for first in (1, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [200] * 16
    for run in Run.objects.all():
        assert sorted(run.snapshots.values_list("seq", flat=True)) == list(range(1, 9))
    assert Run.objects.count() == 2


def test_a_silent_run_ends_and_the_next_push_begins_another(alloy: Any, heap: Any, the_run: Callable[[], Run]) -> None:
    alloy.push(heap(1), service_name="shop")
    run = the_run()

    assert rolling.close_silent(timezone.now()) == 0
    assert rolling.close_silent(timezone.now() + timedelta(minutes=11)) == 1

    run.refresh_from_db()
    assert (run.is_open, run.state) == (False, "ready")
    assert run.ended_at == RollingRun.objects.get().last_push_at
    alloy.push(heap(2), service_name="shop")
    assert Run.objects.count() == 2
    assert list(RollingRun.objects.order_by("part").values_list("part", flat=True)) == [1, 2]


def test_the_sweep_closes_and_thins(alloy: Any, heap: Any) -> None:
    alloy.push(heap(), service_name="shop")

    assert do_chores(timezone.now()) == {}
    assert do_chores(timezone.now() + timedelta(minutes=11)) == {"rolling_closed": 1}


def test_a_new_day_is_a_new_run_of_one_instance(
    alloy: Any, heap: Any, settings: Any, time_machine: Callable[[float], None]
) -> None:
    settings.PUSH_INSTANCES, settings.PUSH_SILENT_S = 1, 2 * 86_400
    for blocks in (1, 2):
        assert alloy.push(heap(blocks), service_name="shop").status_code == 200
        time_machine(86_400)

    assert [run.lease_expires_at is not None for run in Run.objects.order_by("pk")] == [False, True]


def test_a_full_run_is_followed_by_another(alloy: Any, heap: Any, settings: Any) -> None:
    settings.MAX_SNAPSHOTS = 2
    for blocks in (1, 2, 3):
        alloy.push(heap(blocks), service_name="shop")

    assert sorted(RollingRun.objects.values_list("part", "last_seq")) == [(1, 2), (2, 1)]


def test_a_push_that_cant_be_read_ends_nothing(alloy: Any, heap: Any, ingest: Any) -> None:
    alloy.ingest(b"no stack at all", name="shop.inuse_space")
    run = Run.objects.get()
    ingest(run)
    run.refresh_from_db()
    assert run.state == "failed"

    alloy.ingest(b"main;a 5\n", name="shop.inuse_space")
    ingest(run)

    run.refresh_from_db()
    assert (run.state, run.total, run.reason) == ("ready", 5, "")


@pytest.mark.parametrize("off", [timedelta(days=400), -timedelta(days=400)])
def test_a_clock_that_is_far_off_is_not_believed(alloy: Any, heap: Any, the_run: Any, off: timedelta) -> None:
    until = int((timezone.now() + off).timestamp())

    alloy.ingest(heap(), name="shop", format="pprof", **{"from": until - 10, "until": until})

    assert abs(the_run().started_at - timezone.now()) < timedelta(minutes=1)


def test_a_deleted_run_may_be_pushed_again(alloy: Any, heap: Any) -> None:
    for _ in range(2):
        alloy.push(heap(), service_name="shop")
        Run.objects.get().delete()

    assert not RollingRun.objects.exists()


def test_other_projects_see_nothing_of_it(alloy: Any, heap: Any, other_ci: Any, the_run: Any) -> None:
    alloy.push(heap(), service_name="shop")

    assert other_ci.get(f"/runs/{the_run().run_id}").status_code == 404
