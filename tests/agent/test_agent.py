"""The agent against a small site: heartbeats, claims, refusals, its spool, its end. Nothing here needs root."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest
import zstandard
from kombu import Connection, Queue

import tracer.broker  # noqa: F401 - registers memflame-files://
from tracer.agent.listen import make_app
from tracer.agent.spool import Finish, Spool
from tracer.profile.model import Profile
from tracer.protocol import COLLECTORS, TASK_RUN_READY, RunSpec

HEARTBEAT = "/api/v1/agent/heartbeat"
NEXT = "/api/v1/agent/next"
CLAIM = "/api/v1/agent/runs/r-abc/claim"
PROGRESS = "/api/v1/agent/runs/r-abc/progress"
FINISH = "/api/v1/agent/runs/r-abc/finish"
SNAPSHOTS = "/api/v1/runs/r-abc/snapshots"
NO_PID = 2**22 + 1  # above the largest that the kernel gives


@pytest.fixture
def site(stub_site: Any, answer: Any) -> Any:
    """A site that knows the agent and has nothing for it."""
    stub_site.answer(HEARTBEAT, answer(body={"host_id": "h1", "queue": "host.h1", "project_count": 1}))
    stub_site.answer(NEXT, answer(body={"run": None}))
    stub_site.answer(PROGRESS, answer(body={"stop": "", "lease_s": 15}))
    stub_site.answer(FINISH, answer(body={"state": "failed"}))
    return stub_site


@pytest.fixture
def offer(site: Any, answer: Any) -> Any:
    """Queue one run with that spec."""

    def offer(spec: dict[str, Any]) -> None:
        site.answer(NEXT, answer(body={"run": "r-abc"}), answer(body={"run": None}))
        site.answer(CLAIM, answer(body={"spec": spec, "lease_s": 15}))

    return offer


def leave_in_spool(spool: Path, *, snapshots: int, finish: Finish | None = None) -> str:
    """What an agent that was killed leaves."""
    attempt = "0123456789abcdef" * 2
    kept = Spool(spool)
    with kept.in_use():
        folder = kept.open("r-abc", attempt)
        for seq in range(1, snapshots + 1):
            profile = Profile(COLLECTORS["brk"].value_types)
            profile.add(("main",), [seq, 1, 0])
            folder.write_snapshot(seq, float(seq), profile)
        if finish is not None:
            folder.write_finish(finish)
    return attempt


def test_it_tells_what_the_host_can_do_and_what_runs(site: Any, start_agent: Any) -> None:
    start_agent(site.url)

    (request,) = site.wait_for(lambda: site.to(HEARTBEAT)[:1])

    assert set(request.json["facts"]["collectors"]) == set(COLLECTORS)
    assert request.json["facts"]["kernel"] == os.uname().release
    assert os.getpid() in [process["pid"] for process in request.json["processes"]]
    assert set(request.json["processes"][0]) == {"pid", "start_time", "command", "user", "rss_bytes", "started_at"}


def test_its_own_processes_are_not_on_offer(site: Any, start_agent: Any) -> None:
    agent = start_agent(site.url)

    (request,) = site.wait_for(lambda: site.to(HEARTBEAT)[:1])

    assert agent.process.pid not in [process["pid"] for process in request.json["processes"]]


def test_a_refused_token_ends_it_with_the_sites_words(stub_site: Any, answer: Any, start_agent: Any) -> None:
    stub_site.answer(HEARTBEAT, answer(401, {"error": "The agent's token is not known."}))

    agent = start_agent(stub_site.url)

    assert agent.process.wait(20) == 1
    assert agent.log.endswith("memflame agent: The agent's token is not known.\n")


def test_a_site_that_is_away_at_the_start_is_waited_for(site: Any, answer: Any, start_agent: Any) -> None:
    site.answer(HEARTBEAT, answer(503), answer(body={"queue": "host.h1"}))

    agent = start_agent(site.url)

    site.wait_for(lambda: site.to(NEXT))
    assert "the site answered 503" in agent.log


def test_a_taken_spool_ends_it(site: Any, start_agent: Any, tmp_path: Path) -> None:
    with Spool(tmp_path / "spool").in_use():
        agent = start_agent(site.url)

        assert agent.process.wait(15) == 1
    assert "another agent uses spool" in agent.log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_with_success(site: Any, start_agent: Any, number: signal.Signals) -> None:
    agent = start_agent(site.url)
    site.wait_for(lambda: site.to(NEXT))

    assert agent.stop(number) == 0


def test_a_recording_that_can_not_start_fails_the_run_with_a_reason(site: Any, offer: Any, start_agent: Any) -> None:
    offer(RunSpec("r-abc", "malloc", NO_PID).to_dict())

    start_agent(site.url)

    (finish,) = site.wait_for(lambda: site.to(FINISH))
    assert (finish.json["outcome"], finish.json["snapshots"]) == ("failed", 0)
    assert str(NO_PID) in finish.json["reason"] or "root" in finish.json["reason"]
    assert finish.json["attempt"] == site.to(CLAIM)[0].json["attempt"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"collector": "telepathy"}, "unknown collector 'telepathy'"),
        ({"v": 99}, "run spec has version 99"),
        ({"pid": "many"}, "many"),
        ({"duration_s": 1e9}, "the limit is 3600 s"),
    ],
)
def test_a_spec_that_it_can_not_read_fails_the_run(
    site: Any, offer: Any, start_agent: Any, change: dict[str, Any], words: str
) -> None:
    offer({**RunSpec("r-abc", "malloc", 1).to_dict(), **change})

    start_agent(site.url)

    (finish,) = site.wait_for(lambda: site.to(FINISH))
    assert finish.json["outcome"] == "failed"
    assert words in finish.json["reason"]


@pytest.mark.parametrize("is_selected", [False, True])
def test_it_does_not_record_itself(site: Any, answer: Any, start_agent: Any, is_selected: bool) -> None:
    agent = start_agent(site.url)
    site.wait_for(lambda: site.to(NEXT))
    pid = agent.process.pid
    spec = (RunSpec("r-abc", "brk", target=f"pids:{pid}") if is_selected else RunSpec("r-abc", "brk", pid)).to_dict()
    site.answer(CLAIM, answer(body={"spec": spec, "lease_s": 15}))

    site.answer(NEXT, answer(body={"run": "r-abc"}), answer(body={"run": None}))

    (finish,) = site.wait_for(lambda: site.to(FINISH))
    assert "does not record itself" in finish.json["reason"]


def test_a_run_that_another_agent_has_is_left_alone(site: Any, answer: Any, start_agent: Any, wait_until: Any) -> None:
    site.answer(NEXT, answer(body={"run": "r-abc"}), answer(body={"run": None}))
    site.answer(CLAIM, answer(409, {"error": "r-abc is taken."}))

    agent = start_agent(site.url)

    site.wait_for(lambda: site.to(CLAIM))
    wait_until(lambda: Spool(agent.spool).folders() == [])
    agent.stop()
    assert site.to(FINISH) == []


def test_a_run_id_that_is_a_path_is_not_taken(site: Any, answer: Any, start_agent: Any, wait_until: Any) -> None:
    site.answer(NEXT, answer(body={"run": "../../etc"}), answer(body={"run": None}))

    agent = start_agent(site.url)

    wait_until(lambda: "names no run and attempt" in agent.log)
    assert {request.path for request in site.requests} == {HEARTBEAT, NEXT}


def test_a_message_of_its_queue_wakes_it(site: Any, start_agent: Any, tmp_path: Path, wait_until: Any) -> None:
    broker = f"memflame-files://{tmp_path}/broker"
    agent = start_agent(site.url, "--broker", broker)
    site.wait_for(lambda: site.to(NEXT))

    make_app(broker, "host.h1").send_task(TASK_RUN_READY, ["r-nudge"], queue="host.h1")

    wait_until(lambda: "nudged for r-nudge" in agent.log, or_show=lambda: agent.log)


def test_what_it_starts_gets_no_token(site: Any, start_agent: Any, tmp_path: Path, wait_until: Any) -> None:
    agent = start_agent(site.url, "--broker", f"memflame-files://{tmp_path}/broker", token="mfa_abcdefgh_verysecret")

    (listener,) = wait_until(lambda: psutil.Process(agent.process.pid).children()[-1:] if site.to(NEXT) else [])
    environment = Path(f"/proc/{listener.pid}/environ").read_bytes()

    assert "tracer.agent.listen" in listener.cmdline()
    assert b"PATH=" in environment
    assert b"verysecret" not in environment
    assert "verysecret" not in f"{agent.process.args} {agent.log}"


def test_a_broken_message_does_not_end_its_listener(
    site: Any, start_agent: Any, tmp_path: Path, wait_until: Any
) -> None:
    broker = f"memflame-files://{tmp_path}/broker"
    agent = start_agent(site.url, "--broker", broker)
    app = make_app(broker, "host.h1")

    with Connection(broker) as connection:
        connection.Producer().publish({"no": "task"}, routing_key="host.h1", declare=[Queue("host.h1")])
    app.send_task("memflame.unknown", [], queue="host.h1")
    app.send_task(TASK_RUN_READY, ["r-nudge"], queue="host.h1")

    wait_until(lambda: "nudged for r-nudge" in agent.log, or_show=lambda: agent.log)


@pytest.mark.ebpf
def test_a_lost_lease_ends_the_recording_but_not_what_it_had_taken(
    site: Any, answer: Any, offer: Any, start_agent: Any, wait_until: Any
) -> None:
    site.answer(f"{SNAPSHOTS}/1", answer(201, {}))
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as target:
        offer(RunSpec("r-abc", "brk", target.pid, duration_s=60.0).to_dict())
        agent = start_agent(site.url)
        site.wait_for(lambda: any(request.json["phase"] == "recording" for request in site.to(PROGRESS)))

        site.answer(PROGRESS, answer(409, {"error": "r-abc is not this attempt's any more."}))

        (finish,) = site.wait_for(lambda: site.to(FINISH))
        target.kill()
    assert finish.json["outcome"] == "failed"
    assert finish.json["reason"] == "The site gave this run up: r-abc is not this attempt's any more."
    assert len(site.to(f"{SNAPSHOTS}/1")) == 1
    assert agent.tracing_children() == []
    wait_until(lambda: Spool(agent.spool).folders() == [])


@pytest.mark.ebpf
def test_a_site_that_is_away_for_a_while_ends_no_recording(
    site: Any, answer: Any, offer: Any, start_agent: Any
) -> None:
    site.answer(f"{SNAPSHOTS}/1", answer(503), answer(201, {}))
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as target:
        offer(RunSpec("r-abc", "brk", target.pid, duration_s=2.0).to_dict())
        site.answer(PROGRESS, answer(503), answer(502), answer(body={"stop": "", "lease_s": 15}))
        start_agent(site.url)

        (finish,) = site.wait_for(lambda: site.to(FINISH))
        target.kill()

    assert (finish.json["outcome"], finish.json["snapshots"]) == ("done", 1)


def test_a_killed_agents_spool_is_sent_by_the_next_start(
    site: Any, answer: Any, start_agent: Any, tmp_path: Path, wait_until: Any
) -> None:
    attempt = leave_in_spool(tmp_path / "spool", snapshots=2)
    for seq in (1, 2):
        site.answer(f"{SNAPSHOTS}/{seq}", answer(201, {}))

    agent = start_agent(site.url)

    (finish,) = site.wait_for(lambda: site.to(FINISH))
    (second,) = site.to(f"{SNAPSHOTS}/2")
    assert zstandard.ZstdDecompressor().decompressobj().decompress(second.body).endswith(b"main 2 1 0\n")
    assert second.query == {"attempt": [attempt], "elapsed_s": ["2.000"]}
    assert finish.json == {
        "attempt": attempt,
        "outcome": "failed",
        "reason": "The agent ended before the recording did. The snapshots that it had taken are kept.",
        "snapshots": 2,
    }
    wait_until(lambda: Spool(agent.spool).folders() == [])


def test_a_snapshot_that_the_site_refuses_is_set_aside_and_said(
    site: Any, answer: Any, start_agent: Any, tmp_path: Path
) -> None:
    leave_in_spool(tmp_path / "spool", snapshots=2, finish=Finish("done", "", 2))
    site.answer(f"{SNAPSHOTS}/1", answer(413, {"error": "Too long."}))
    site.answer(f"{SNAPSHOTS}/2", answer(201, {}))

    start_agent(site.url)

    (finish,) = site.wait_for(lambda: site.to(FINISH))
    assert finish.json["snapshots"] == 1
    assert finish.json["reason"] == ("1 of 2 snapshots were lost: the spool was full, or the site refused them.")
    assert len(list((tmp_path / "spool/rejected").glob("*/0001.1000.zst"))) == 1


def test_snapshots_wait_while_the_site_is_away(site: Any, answer: Any, start_agent: Any, tmp_path: Path) -> None:
    leave_in_spool(tmp_path / "spool", snapshots=1, finish=Finish("done", "", 1))
    site.answer(f"{SNAPSHOTS}/1", answer(401, {"error": "Token expired."}), answer(201, {}))

    agent = start_agent(site.url)

    (finish,) = site.wait_for(lambda: site.to(FINISH))
    assert (finish.json["outcome"], finish.json["snapshots"]) == ("done", 1)
    assert "snapshots wait in" in agent.log
