"""Progress posts: they renew the lease, keep the figures, and bring back what the page asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from webapp.runs import states
from webapp.runs.models import Run, State

ClaimedRun = Callable[..., Run]


def _post(agent: Any, run: Run, **fields: Any) -> Any:
    body = {"attempt": "attempt-0001", "phase": "recording", "elapsed_s": 2.0, "events": 7, "lost": {}} | fields
    return agent.post(f"/agent/runs/{run.run_id}/progress", body)


def test_the_first_counted_event_starts_the_clock(agent: Any, claimed_run: ClaimedRun) -> None:
    run = claimed_run()

    answer = _post(agent, run, elapsed_s=2.0, events=7, lost={"stack_map_full": 1})

    assert answer.json() == {"stop": "", "lease_s": 15.0}
    run.refresh_from_db()
    assert (run.state, run.elapsed_s, run.events, run.lost) == (State.RECORDING, 2.0, 7, {"stack_map_full": 1})
    assert run.started_at is not None
    assert timedelta(seconds=2) <= timezone.now() - run.started_at < timedelta(seconds=10)


def test_the_start_stays_when_time_passes(agent: Any, claimed_run: ClaimedRun) -> None:
    run = claimed_run()
    _post(agent, run, elapsed_s=2.0)
    run.refresh_from_db()
    started_at = run.started_at

    _post(agent, run, elapsed_s=500.0)

    run.refresh_from_db()
    assert run.started_at == started_at


def test_an_agent_that_prepares_renews_its_lease(agent: Any, claimed_run: ClaimedRun) -> None:
    run = claimed_run()
    Run.objects.filter(pk=run.pk).update(lease_expires_at=timezone.now() + timedelta(seconds=1))

    _post(agent, run, phase="claimed", elapsed_s=0, events=0)

    run.refresh_from_db()
    assert run.state == State.CLAIMED
    assert run.lease_expires_at is not None
    assert run.lease_expires_at > timezone.now() + timedelta(seconds=10)


@pytest.mark.parametrize("what", ["stop", "cancel"])
def test_the_answer_carries_what_the_page_asked_for(agent: Any, claimed_run: ClaimedRun, what: Any) -> None:
    run = claimed_run()
    _post(agent, run)
    states.request_stop(run, what)

    assert _post(agent, run).json()["stop"] == what


def test_an_attempt_that_lost_its_run_is_told_to_stop_tracing(agent: Any, claimed_run: ClaimedRun) -> None:
    run = claimed_run()
    states.fail_overdue(timezone.now() + timedelta(minutes=1))

    answer = _post(agent, run)

    assert answer.status_code == 409
    assert answer.json() == {"error": f"{run.run_id} is not this attempt's any more; stop tracing."}
    run.refresh_from_db()
    assert run.state == State.FAILED


def test_a_stranger_to_the_run_changes_nothing(agent: Any, claimed_run: ClaimedRun) -> None:
    run = claimed_run()

    answer = _post(agent, run, attempt="attempt-0002", events=99)

    assert answer.status_code == 409
    run.refresh_from_db()
    assert (run.state, run.events) == (State.CLAIMED, 0)


def test_another_host_finds_nothing(other_agent: Any, claimed_run: ClaimedRun) -> None:
    assert _post(other_agent, claimed_run()).status_code == 404
