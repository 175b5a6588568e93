"""Estimates: asked once a host, taken by one agent, finished once, given up in time."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from tracer import protocol
from tracer.prices import RATES, Price
from tracer.prices import Estimate as Found
from webapp.runs import estimates
from webapp.runs.models import Estimate, EstimateState
from webapp.runs.sweep import sweep

ATTEMPT = "attempt-0001"
PROCESS = {"pid": 4711, "start_time": 1234, "command": "search-api --port 80"}
FOUND = Found(3.0, dict.fromkeys(RATES, 1.5), 7, (Price("brk", "", 0.01, None, 0.0, 4096, is_recommended=True),))


@pytest.fixture
def asked(story: Any) -> Callable[..., Estimate]:
    def ask(**changes: Any) -> Estimate:
        facts = {"host": story.host, "process": PROCESS} | changes
        return estimates.ask(story.search, story.alice, **facts)

    return ask


def test_an_agent_takes_counts_and_sends(asked: Callable[..., Estimate], agent: Any) -> None:
    estimate = asked()

    assert agent.get("/agent/next").json() == {"run": None, "estimate": estimate.estimate_id}
    address = f"/agent/estimates/{estimate.estimate_id}"
    claim = agent.post(f"{address}/claim", {"attempt": ATTEMPT}).json()
    done = agent.post(f"{address}/finish", {"attempt": ATTEMPT, "result": FOUND.to_dict()})

    assert claim == {"pid": 4711, "start_time": 1234, "seconds": 3.0}
    assert done.json() == {"state": "ready"}
    estimate.refresh_from_db()
    assert (estimate.state, estimate.found) == (EstimateState.READY, FOUND)
    assert agent.get("/agent/next").json() == {"run": None, "estimate": None}


def test_a_claim_is_one_attempts_which_may_ask_again(asked: Callable[..., Estimate], agent: Any) -> None:
    address = f"/agent/estimates/{asked().estimate_id}/claim"

    answers = [agent.post(address, {"attempt": who}).status_code for who in (ATTEMPT, "attempt-0002", ATTEMPT)]

    assert answers == [200, 409, 200]


def test_another_hosts_agent_finds_no_estimate(asked: Callable[..., Estimate], other_agent: Any) -> None:
    estimate = asked()

    assert other_agent.get("/agent/next").json()["estimate"] is None
    assert other_agent.post(f"/agent/estimates/{estimate.estimate_id}/claim", {"attempt": ATTEMPT}).status_code == 404


def test_a_reason_without_a_result_is_a_failure_in_words(asked: Callable[..., Estimate], agent: Any) -> None:
    estimate = asked()
    estimates.claim(estimate, ATTEMPT)

    agent.post(
        f"/agent/estimates/{estimate.estimate_id}/finish", {"attempt": ATTEMPT, "reason": "There is no process 4711."}
    )

    estimate.refresh_from_db()
    assert (estimate.state, estimate.reason) == (EstimateState.FAILED, "There is no process 4711.")


def test_a_result_that_cannot_be_read_is_refused_and_nothing_is_kept(
    asked: Callable[..., Estimate], agent: Any
) -> None:
    estimate = asked()
    estimates.claim(estimate, ATTEMPT)
    broken = FOUND.to_dict() | {"seconds": -1}

    answer = agent.post(
        f"/agent/estimates/{estimate.estimate_id}/finish", {"attempt": ATTEMPT, "result": broken}
    )  # fmt: skip

    assert answer.status_code == 422
    assert answer.json() == {"error": "seconds of the estimate is -1, it must be a number, 0 or more."}
    estimate.refresh_from_db()
    assert (estimate.state, estimate.result) == (EstimateState.CLAIMED, {})


def test_only_one_process_of_a_host_is_counted_at_a_time(asked: Callable[..., Estimate]) -> None:
    first = asked()

    with pytest.raises(estimates.HostIsBusy, match="web-1 counts another process now"):
        asked(process=PROCESS | {"pid": 4712})
    again = asked()
    estimates.claim(first, ATTEMPT)
    estimates.finish(first, ATTEMPT, FOUND, "")

    assert again == first
    assert asked(process=PROCESS | {"pid": 4712}).state == EstimateState.QUEUED


def test_what_no_agent_takes_or_finishes_in_time_has_failed(asked: Callable[..., Estimate]) -> None:
    untaken = asked()
    assert sweep(timezone.now()).estimates_failed == 0

    assert sweep(timezone.now() + Estimate.DUE_AFTER).estimates_failed == 1
    silent = asked()
    estimates.claim(silent, ATTEMPT)
    assert sweep(timezone.now() + Estimate.DUE_AFTER).estimates_failed == 1

    reasons = [Estimate.objects.get(pk=estimate.pk).reason for estimate in (untaken, silent)]
    assert reasons == [
        "The agent on web-1 did not take it.",
        "The agent on web-1 took it and was not heard again.",
    ]
    assert not estimates.finish(silent, ATTEMPT, FOUND, "")


def test_estimates_are_kept_for_a_day(asked: Callable[..., Estimate]) -> None:
    asked()

    sweep(timezone.now() + estimates.KEPT_FOR / 2)
    assert Estimate.objects.count() == 1
    sweep(timezone.now() + estimates.KEPT_FOR)

    assert Estimate.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_its_host_is_nudged(asked: Callable[..., Estimate], story: Any, broker: Path) -> None:
    estimate = asked()

    (message,) = broker.glob(f"q-{protocol.host_queue(story.host.host_id)}/ready/*.msg")
    body = json.loads(base64.b64decode(json.loads(message.read_text())["body"]))
    assert body[0] == [estimate.estimate_id]
