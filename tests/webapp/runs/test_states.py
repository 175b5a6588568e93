"""The moves of a run: what each does in each state, and that nothing else happens."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tracer import protocol
from webapp.runs import states
from webapp.runs.models import Run, Snapshot, State

ATTEMPT = "attempt-0001"

MOVES: dict[str, Callable[[Run, Any], Any]] = {
    "claim": lambda run, story: states.claim(run, story.host, "attempt-0002"),
    "progress": lambda run, story: states.note_progress(
        run, ATTEMPT, is_recording=True, elapsed_s=1.0, events=1, lost={}
    ),
    "finish": lambda run, story: states.finish(run, ATTEMPT, "done", snapshots=1),
    "fail": lambda run, story: states.finish(run, ATTEMPT, "failed", reason="no such process"),
    "stop": lambda run, story: states.request_stop(run, "stop"),
    "cancel": lambda run, story: states.request_stop(run, "cancel"),
    "overdue": lambda run, story: states.fail_overdue(timezone.now() + timedelta(minutes=1)),
    "settle": lambda run, story: states.settle(run.pk),
}

# Of each state: the moves that change it, and into what. All other moves leave it as it is.
CHANGES: dict[State, dict[str, State]] = {
    State.QUEUED: {"claim": State.CLAIMED, "stop": State.CANCELLED, "cancel": State.CANCELLED},
    State.CLAIMED: {
        "progress": State.RECORDING, "finish": State.INGESTING, "fail": State.FAILED, "cancel": State.CANCELLED,
        "overdue": State.FAILED,
    },
    State.RECORDING: {
        "finish": State.INGESTING, "fail": State.FAILED, "cancel": State.CANCELLED, "overdue": State.FAILED,
    },
    State.INGESTING: {"cancel": State.CANCELLED},
    State.READY: {},
    State.FAILED: {},
    State.CANCELLED: {},
}  # fmt: skip


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("state", CHANGES)
def test_a_move_changes_the_states_it_is_for_and_no_other(
    story: Any, queued_run: Callable[..., Run], state: State, move: str
) -> None:
    run = queued_run()
    lease = None if state == State.QUEUED else timezone.now() + timedelta(seconds=15)
    attempt = "" if state == State.QUEUED else ATTEMPT
    Run.objects.filter(pk=run.pk).update(state=state, attempt=attempt, lease_expires_at=lease)
    run.refresh_from_db()

    MOVES[move](run, story)

    run.refresh_from_db()
    assert run.state == CHANGES[state].get(move, state)


def test_every_state_has_its_row() -> None:
    assert set(CHANGES) == set(State)


def test_a_recording_of_another_teams_host_is_refused(story: Any) -> None:
    with pytest.raises(ValueError, match="ads-1 is not a host of the team of search-api"):
        states.request_run(
            story.search, story.alice, host=story.other_host, process={"pid": 1}, collector="malloc", duration_s=10
        )

    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"duration_s": 3601}, "duration is 3601 s, the limit is 3600 s"),
        ({"duration_s": 0}, "duration is 0 s"),
        ({"collector": "magic"}, "unknown collector 'magic'"),
        ({"duration_s": 3600, "snapshot_every_s": 1}, "would have 3600 snapshots, the limit is 2000"),
        ({"snapshot_every_s": -1}, "time between snapshots is -1 s"),
    ],
)
def test_a_recording_past_a_limit_is_refused_in_words(
    queued_run: Callable[..., Run], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        queued_run(**options)

    assert not Run.objects.exists()


def test_labels_can_be_filtered_by(queued_run: Callable[..., Run]) -> None:
    run = queued_run(labels={"region": "eu", "canary": "yes"})

    assert set(run.label_rows.values_list("key", "value")) == {("region", "eu"), ("canary", "yes")}


def test_a_run_says_how_many_snapshots_it_will_have(queued_run: Callable[..., Run]) -> None:
    assert queued_run(duration_s=10, snapshot_every_s=3).expected_snapshots == 4
    assert queued_run(duration_s=10).expected_snapshots == 1


def test_a_finish_said_twice_is_one(claimed_run: Callable[..., Run]) -> None:
    run = claimed_run()
    assert states.finish(run, ATTEMPT, "stopped", reason="", snapshots=2) == State.INGESTING

    again = states.finish(run, ATTEMPT, "failed", reason="late", snapshots=0)

    run.refresh_from_db()
    assert (again, run.state, run.expected_snapshots, run.reason) == (State.INGESTING, State.INGESTING, 2, "")


def test_a_finish_of_another_attempt_is_told_so(agent: Any, claimed_run: Callable[..., Run]) -> None:
    run = claimed_run()

    answer = agent.post(f"/agent/runs/{run.run_id}/finish", {"attempt": "attempt-0002", "outcome": "done"})

    assert answer.status_code == 409
    run.refresh_from_db()
    assert run.state == State.CLAIMED


def test_a_recording_without_a_snapshot_has_failed(agent: Any, claimed_run: Callable[..., Run]) -> None:
    run = claimed_run()

    answer = agent.post(f"/agent/runs/{run.run_id}/finish", {"attempt": ATTEMPT, "outcome": "done", "snapshots": 0})

    run.refresh_from_db()
    assert answer.json() == {"state": "failed"}
    assert run.reason == "The agent ended without a snapshot."


def test_the_reason_of_an_agent_is_kept(agent: Any, claimed_run: Callable[..., Run]) -> None:
    run = claimed_run()

    agent.post(
        f"/agent/runs/{run.run_id}/finish",
        {"attempt": ATTEMPT, "outcome": "failed", "reason": "There is no process 4711.", "snapshots": 0},
    )

    run.refresh_from_db()
    assert (run.state, run.reason) == (State.FAILED, "There is no process 4711.")
    assert run.ended_at is not None


def test_a_recording_that_its_budget_ended_becomes_ready_and_says_why(
    agent: Any, claimed_run: Callable[..., Run], snapshot_of: Callable[..., Snapshot]
) -> None:
    run = claimed_run()
    snapshot_of(run, 1)
    words = "Recording took 31 % of one core over 5 s, its budget is 10 %: it was ended after 7 s."

    answer = agent.post(
        f"/agent/runs/{run.run_id}/finish",
        {"attempt": ATTEMPT, "outcome": "over_budget", "reason": words, "snapshots": 1},
    )

    run.refresh_from_db()
    assert answer.status_code == 200
    assert (run.state, run.reason) == (State.READY, words)


def test_an_agent_that_is_silent_loses_its_run_within_its_lease(claimed_run: Callable[..., Run]) -> None:
    run = claimed_run()
    now = timezone.now()

    assert states.fail_overdue(now + timedelta(seconds=protocol.LEASE_S - 2)) == []
    assert states.fail_overdue(now + timedelta(seconds=protocol.LEASE_S + 1)) == [run.run_id]

    run.refresh_from_db()
    assert run.reason.startswith("The agent on web-1 was last heard at ")
    assert run.reason.endswith(" UTC. It had sent no snapshot.")


def test_a_recording_that_is_stopped_while_it_waits_is_cancelled(queued_run: Callable[..., Run]) -> None:
    run = queued_run()

    assert states.request_stop(run, "stop")

    run.refresh_from_db()
    assert (run.state, run.reason) == (State.CANCELLED, "Stopped before the agent took it.")
