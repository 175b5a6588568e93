"""The agent counts when the site asks for an estimate: one child, one answer, also when it can't."""

from __future__ import annotations

import subprocess
from typing import Any

import psutil
import pytest

from tracer.prices import Estimate
from tracer.process.target import read_status

NEXT = "/api/v1/agent/next"
CLAIM = "/api/v1/agent/estimates/e-abc/claim"
FINISH = "/api/v1/agent/estimates/e-abc/finish"
NO_PID = 2**22 + 1  # above the largest that the kernel gives


@pytest.fixture
def site(stub_site: Any, answer: Any) -> Any:
    stub_site.answer("/api/v1/agent/heartbeat", answer(body={"host_id": "h1", "queue": "host.h1", "project_count": 1}))
    stub_site.answer(FINISH, answer(body={"state": "ready"}))
    return stub_site


@pytest.fixture
def offer(site: Any, answer: Any) -> Any:
    """Let one estimate of that process wait."""

    def offer(pid: int, *, start_time: int = 0, seconds: float = 0.5) -> None:
        site.answer(CLAIM, answer(body={"pid": pid, "start_time": start_time, "seconds": seconds}))
        site.answer(NEXT, answer(body={"run": None, "estimate": "e-abc"}), answer(body={"run": None, "estimate": None}))

    return offer


@pytest.mark.ebpf
def test_it_counts_the_process_and_sends_what_recording_would_cost(site: Any, offer: Any, start_agent: Any) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as target:
        offer(target.pid, start_time=read_status(target.pid).start_time)

        start_agent(site.url)

        (finish,) = site.wait_for(lambda: site.to(FINISH), timeout_s=30)
        target.kill()
    estimate = Estimate.from_dict(finish.json["result"])
    assert finish.json["attempt"] == site.to(CLAIM)[0].json["attempt"]
    assert finish.json["reason"] == ""
    assert [price.method.name for price in estimate.prices if price.is_recommended] == ["malloc, exact"]


def test_a_process_that_is_gone_is_answered_in_a_sentence(site: Any, offer: Any, start_agent: Any) -> None:
    offer(NO_PID)

    start_agent(site.url)

    (finish,) = site.wait_for(lambda: site.to(FINISH), timeout_s=30)
    assert finish.json["result"] is None
    assert finish.json["reason"] in (f"There is no process {NO_PID}.", "memflame must be root to load BPF programs.")


def test_it_does_not_count_itself(site: Any, offer: Any, answer: Any, start_agent: Any) -> None:
    site.answer(NEXT, answer(body={"run": None, "estimate": None}))
    agent = start_agent(site.url)
    site.wait_for(lambda: site.to(NEXT))

    offer(agent.process.pid)

    (finish,) = site.wait_for(lambda: site.to(FINISH))
    assert finish.json["reason"] == f"Process {agent.process.pid} belongs to the agent, which does not count itself."


def test_it_counts_nothing_for_ever(site: Any, offer: Any, start_agent: Any) -> None:
    offer(NO_PID, seconds=1e9)

    start_agent(site.url)

    (finish,) = site.wait_for(lambda: site.to(FINISH))
    assert finish.json["reason"] == "This agent counts from 0.5 to 60 s, not 1e+09 s."


def test_an_estimate_that_another_agent_has_is_left_alone(
    site: Any, offer: Any, answer: Any, start_agent: Any, wait_until: Any
) -> None:
    offer(NO_PID)
    site.answer(CLAIM, answer(409, {"error": "e-abc is taken."}))

    agent = start_agent(site.url)

    wait_until(lambda: "no estimate: e-abc is taken." in agent.log, or_show=lambda: agent.log)
    assert site.to(FINISH) == []


@pytest.mark.ebpf
def test_an_agent_that_ends_leaves_no_counting_process(
    site: Any, offer: Any, start_agent: Any, wait_until: Any
) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as target:
        offer(target.pid, seconds=60)
        agent = start_agent(site.url)
        counting = wait_until(lambda: _counting(agent.process.pid))

        agent.stop()

        target.kill()
    assert not psutil.pid_exists(counting)


def _counting(agent: int) -> int | None:
    children = psutil.Process(agent).children()
    return next((child.pid for child in children if "tracer.agent.counting" in child.cmdline()), None)
