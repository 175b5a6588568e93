"""Claiming: of many that ask for a run, one gets it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from tracer import protocol
from webapp.runs import states
from webapp.runs.models import Run, State

QueuedRun = Callable[..., Run]


def test_an_agent_gets_the_spec_and_a_lease(agent: Any, queued_run: QueuedRun) -> None:
    run = queued_run(duration_s=30.0, snapshot_every_s=10.0)

    answer = agent.post(f"/agent/runs/{run.run_id}/claim", {"attempt": "attempt-0001"})

    spec = protocol.RunSpec.from_dict(answer.json()["spec"])
    assert (spec.run, spec.pid, spec.start_time, spec.duration_s) == (run.run_id, 4711, 1234, 30.0)
    assert answer.json()["lease_s"] == protocol.LEASE_S
    run.refresh_from_db()
    assert (run.state, run.attempt) == (State.CLAIMED, "attempt-0001")
    assert run.lease_expires_at is not None and run.lease_expires_at > timezone.now()


def test_the_spec_has_the_options_that_were_asked_for(agent: Any, queued_run: QueuedRun) -> None:
    options = {"age_bands": "30s,5m", "older_than": "30s", "min_size": 64, "max_size": 4096}
    run = queued_run(options=options)

    spec = agent.post(f"/agent/runs/{run.run_id}/claim", {"attempt": "attempt-0001"}).json()["spec"]

    assert spec["options"] == options


def test_options_that_can_not_be_queue_nothing(queued_run: QueuedRun) -> None:
    with pytest.raises(ValueError, match="option older_than is 'soon'"):
        queued_run(options={"older_than": "soon"})


def test_the_same_attempt_may_claim_again(agent: Any, queued_run: QueuedRun) -> None:
    run = queued_run()
    first = agent.post(f"/agent/runs/{run.run_id}/claim", {"attempt": "attempt-0001"})

    again = agent.post(f"/agent/runs/{run.run_id}/claim", {"attempt": "attempt-0001"})

    assert (again.status_code, again.json()) == (200, first.json())


def test_another_attempt_hears_that_the_run_is_taken(agent: Any, queued_run: QueuedRun) -> None:
    run = queued_run()
    agent.post(f"/agent/runs/{run.run_id}/claim", {"attempt": "attempt-0001"})

    answer = agent.post(f"/agent/runs/{run.run_id}/claim", {"attempt": "attempt-0002"})

    assert answer.status_code == 409
    assert answer.json() == {"error": f"{run.run_id} is taken, or it waits no more."}


def test_another_host_finds_nothing(other_agent: Any, queued_run: QueuedRun) -> None:
    run = queued_run()

    answer = other_agent.post(f"/agent/runs/{run.run_id}/claim", {"attempt": "attempt-0001"})

    assert answer.status_code == 404
    run.refresh_from_db()
    assert run.state == State.QUEUED


def test_a_cancelled_run_can_not_be_claimed(agent: Any, queued_run: QueuedRun) -> None:
    run = queued_run()
    states.request_stop(run, "cancel")

    assert agent.post(f"/agent/runs/{run.run_id}/claim", {"attempt": "attempt-0001"}).status_code == 409


def test_an_attempt_needs_a_name_that_nobody_guesses(agent: Any, queued_run: QueuedRun) -> None:
    run = queued_run()

    answer = agent.post(f"/agent/runs/{run.run_id}/claim", {"attempt": "1"})

    assert answer.status_code == 422
    assert "attempt" in answer.json()["error"]


def test_an_agent_that_asks_hears_of_its_oldest_run(agent: Any, other_agent: Any, queued_run: QueuedRun) -> None:
    first, second = queued_run(), queued_run()
    Run.objects.filter(pk=first.pk).update(created_at=timezone.now() - timedelta(minutes=1))

    assert agent.get("/agent/next").json() == {"run": first.run_id, "estimate": None}
    states.request_stop(first, "cancel")
    assert agent.get("/agent/next").json() == {"run": second.run_id, "estimate": None}
    assert other_agent.get("/agent/next").json() == {"run": None, "estimate": None}


@pytest.mark.django_db(transaction=True)
def test_of_eight_attempts_at_once_one_wins(story: Any, queued_run: QueuedRun) -> None:
    run = queued_run()
    start, won = threading.Barrier(8), []

    def attempt(number: int) -> None:
        start.wait(10)
        try:
            if states.claim(run, story.host, f"attempt-{number:04d}") is not None:
                won.append(f"attempt-{number:04d}")
        finally:
            connection.close()

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    run.refresh_from_db()
    assert won == [run.attempt]
