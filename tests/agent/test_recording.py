"""Agent and site together on a traced C program: recorded, stopped, cancelled, killed."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.site_fixture import LiveSite, Story
from tracer.agent.spool import Spool
from tracer.bpf.syscalls import link_ids, loaded_program_ids
from tracer.client import ClientError, SiteClient

PROGRAMS = Path(__file__).parents[1] / "programs"
LEAKED_BYTES = 23 * 4096  # leaky.c: leak_cache


@pytest.fixture(scope="module")
def leaky_program() -> Path:
    subprocess.run(["make", "-s", "-C", str(PROGRAMS), "build/leaky"], check=True)
    return PROGRAMS / "build/leaky"


@pytest.fixture
def leaky(leaky_program: Path) -> Iterator[subprocess.Popen[str]]:
    """Waits for a line before it leaks, and for another one before it ends."""
    process = subprocess.Popen([leaky_program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdin is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


@pytest.fixture
def agent(live_site: LiveSite, story: Story, start_agent: Any) -> Any:
    return start_agent(live_site.url, "--broker", live_site.broker, token=story.agent_token)


class Recording:
    """A run asked for on the New-run page."""

    def __init__(self, live_site: LiveSite, story: Story, alice: httpx.Client) -> None:
        self._site, self._story, self._alice = live_site, story, alice
        self.run = ""

    def ask_for(self, pid: int, *, duration_s: float, snapshot_every_s: float) -> Recording:
        start_time = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        form = {
            "host": self._story.host_id,
            "process": f"{pid}-{start_time}",
            "collector": "malloc",
            "mode": "exact",
            "duration": "own",
            "own_duration": duration_s,
            "snapshot_every": snapshot_every_s,
        }

        def is_taken() -> bool:  # not before a heartbeat has told the site of the process
            answer = self._alice.post("/p/shop/record", data=form)
            self.run = answer.headers.get("Location", "").rpartition("/")[2]
            return answer.status_code == 302

        self._site.wait_until(is_taken)
        return self

    def view(self) -> dict[str, Any]:
        view: dict[str, Any] = self._alice.get(f"/api/v1/runs/{self.run}").json()
        return view

    def wait_for(self, state: str, timeout_s: float = 30) -> dict[str, Any]:
        def is_there() -> dict[str, Any] | None:
            view = self.view()
            is_over = view["state"] in ("failed", "cancelled", "ready")
            assert view["state"] == state or not is_over, f"{view['state']}: {view['reason']}"
            return view if view["state"] == state else None

        found: dict[str, Any] = self._site.wait_until(is_there, timeout_s)
        return found

    def wait_for_snapshots(self, count: int) -> None:
        self._site.wait_until(lambda: len(self.view()["snapshots"]) >= count)

    def order(self, what: str) -> None:
        answer = self._alice.post(f"/runs/{self.run}/stop", data={"what": what})
        assert answer.status_code in (200, 204, 302), answer.text


@pytest.fixture
def recording(live_site: LiveSite, story: Story, alice: httpx.Client) -> Recording:
    return Recording(live_site, story, alice)


def bpf_ids(pid: int) -> tuple[set[int], set[int]]:
    """Programs and links that a process holds: its file descriptors say so."""
    programs, links = set(), set()
    for path in Path(f"/proc/{pid}/fdinfo").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile: what a trap costs is measured beside the recording
            for line in path.read_text().splitlines():
                name, _, value = line.partition(":")
                if name == "prog_id":
                    programs.add(int(value))
                elif name == "link_id":
                    links.add(int(value))
    return programs, links


def is_loaded(ids: tuple[set[int], set[int]]) -> bool:
    programs, links = ids
    return bool(programs & set(loaded_program_ids()) or links & set(link_ids()))


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    process.stdout.readline()


@pytest.mark.ebpf
def test_a_run_is_claimed_recorded_and_ready_with_the_bytes_that_were_leaked(
    agent: Any, recording: Recording, leaky: Any
) -> None:
    recording.ask_for(leaky.pid, duration_s=4, snapshot_every_s=1)
    recording.wait_for("recording")
    tell(leaky)

    view = recording.wait_for("ready")

    assert view["pid"] == leaky.pid
    assert [snapshot["seq"] for snapshot in view["snapshots"]] == [1, 2, 3, 4]
    assert view["snapshots"][-1]["totals"]["outstanding_bytes"] == LEAKED_BYTES
    assert view["reason"] == ""
    assert "nudged for" in agent.log
    assert Spool(agent.spool).folders() == []


@pytest.mark.ebpf
def test_cancel_takes_the_probes_away_within_two_seconds(
    live_site: LiveSite, agent: Any, recording: Recording, leaky: Any
) -> None:
    recording.ask_for(leaky.pid, duration_s=60, snapshot_every_s=1)
    recording.wait_for("recording")
    (child,) = agent.tracing_children()
    ids = bpf_ids(child)
    assert is_loaded(ids)

    begin = time.monotonic()
    recording.order("cancel")
    live_site.wait_until(lambda: not is_loaded(ids))

    assert time.monotonic() - begin < 2
    assert recording.view()["state"] == "cancelled"
    live_site.wait_until(lambda: Spool(agent.spool).folders() == [])


@pytest.mark.ebpf
def test_stop_and_keep_ends_early_with_what_was_recorded(agent: Any, recording: Recording, leaky: Any) -> None:
    recording.ask_for(leaky.pid, duration_s=60, snapshot_every_s=30)
    recording.wait_for("recording")
    tell(leaky)

    recording.order("stop")

    view = recording.wait_for("ready", timeout_s=10)
    assert view["snapshots"][-1]["totals"]["outstanding_bytes"] == LEAKED_BYTES


@pytest.mark.ebpf
def test_a_target_that_exits_leaves_its_last_snapshot(agent: Any, recording: Recording, leaky: Any) -> None:
    recording.ask_for(leaky.pid, duration_s=60, snapshot_every_s=30)
    recording.wait_for("recording")
    tell(leaky)

    leaky.stdin.write("\n")
    leaky.stdin.flush()
    leaky.wait(10)

    view = recording.wait_for("ready", timeout_s=10)
    assert view["snapshots"][-1]["totals"]["outstanding_bytes"] == LEAKED_BYTES


@pytest.mark.ebpf
def test_an_agent_that_is_told_to_stop_sends_its_last_snapshot_first(
    agent: Any, recording: Recording, leaky: Any
) -> None:
    recording.ask_for(leaky.pid, duration_s=60, snapshot_every_s=30)
    recording.wait_for("recording")
    tell(leaky)
    (child,) = agent.tracing_children()
    ids = bpf_ids(child)

    begin = time.monotonic()
    assert agent.stop(signal.SIGINT) == 0

    assert time.monotonic() - begin < 10
    assert not is_loaded(ids)
    view = recording.wait_for("ready", timeout_s=10)
    assert view["reason"] == "The agent on this host was stopped."
    assert view["snapshots"][-1]["totals"]["outstanding_bytes"] == LEAKED_BYTES


@pytest.mark.ebpf
def test_a_killed_agent_fails_its_run_keeps_what_it_sent_and_sends_the_rest_when_it_is_back(
    live_site: LiveSite, story: Story, agent: Any, recording: Recording, leaky: Any, start_agent: Any
) -> None:
    recording.ask_for(leaky.pid, duration_s=300, snapshot_every_s=1)
    recording.wait_for("recording")
    recording.wait_for_snapshots(1)
    (child,) = agent.tracing_children()
    ids = bpf_ids(child)
    tell(leaky)

    agent.stop(signal.SIGKILL)
    live_site.wait_until(lambda: not is_loaded(ids))
    view = recording.wait_for("failed")

    assert "was last heard at" in view["reason"]
    assert "kept" in view["reason"]
    sent = len(view["snapshots"])
    assert sent >= 1

    start_agent(live_site.url, token=story.agent_token, spool=agent.spool)

    recording.wait_for_snapshots(sent + 1)
    live_site.wait_until(lambda: recording.view()["snapshots"][-1]["totals"].get("outstanding_bytes") == LEAKED_BYTES)
    live_site.wait_until(lambda: Spool(agent.spool).folders() == [])


@pytest.mark.ebpf
def test_more_runs_than_the_agent_may_record_at_once_wait(
    live_site: LiveSite, story: Story, alice: httpx.Client, start_agent: Any, leaky: Any
) -> None:
    agent = start_agent(live_site.url, "--broker", live_site.broker, "--concurrency", "2", token=story.agent_token)
    asked = [
        Recording(live_site, story, alice).ask_for(leaky.pid, duration_s=60, snapshot_every_s=30) for _ in range(3)
    ]
    for recording in asked[:2]:
        recording.wait_for("recording")

    assert len(agent.tracing_children()) == 2
    assert asked[2].view()["state"] == "queued"

    asked[0].order("stop")

    asked[2].wait_for("recording", timeout_s=10)


def test_of_two_agents_that_claim_one_run_one_wins(
    live_site: LiveSite, story: Story, alice: httpx.Client, recording: Recording
) -> None:
    client = SiteClient(live_site.url, story.agent_token)
    process = {"pid": os.getpid(), "command": "pytest", "user": "", "rss_bytes": 1, "started_at": ""}
    start_time = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    client.heartbeat("0", {"collectors": {"malloc": ""}}, [{**process, "start_time": start_time}])
    recording.ask_for(os.getpid(), duration_s=10, snapshot_every_s=10)
    barrier, won, lost = threading.Barrier(4), [], []

    def claim() -> None:
        attempt = uuid.uuid4().hex
        barrier.wait()
        try:
            won.append((attempt, client.claim(recording.run, attempt).spec))
        except ClientError as error:
            lost.append(error.status)

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(won), lost) == (1, [409] * 3)
    ((attempt, spec),) = won
    assert client.claim(recording.run, attempt).spec == spec
