"""Profiles that a program makes itself, pulled by a real agent for the real site, with jemalloc in a real program."""

from __future__ import annotations

import io
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.site_fixture import LiveSite, Story
from tracer.profile.formats import read_profile
from tracer.protocol import value_type_named

PROGRAMS = Path(__file__).parents[1] / "programs"
GROWN_BYTES = 23 * (4 << 20)
SAMPLING = "prof:true,prof_active:true,lg_prof_sample:19"


@dataclass(frozen=True, slots=True)
class Server:
    """A program that leaks when told to, and serves its own profile."""

    pid: int
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/prof"

    def get(self, path: str) -> None:
        httpx.get(f"http://127.0.0.1:{self.port}{path}", trust_env=False).raise_for_status()

    @property
    def key(self) -> str:
        return f"{self.pid}-{Path(f'/proc/{self.pid}/stat').read_text().rpartition(')')[2].split()[19]}"


@pytest.fixture(scope="session")
def heap_server() -> Path:
    subprocess.run(["make", "-s", "-C", str(PROGRAMS), "build/heap_server"], check=True)
    return PROGRAMS / "build/heap_server"


@pytest.fixture
def serve(heap_server: Path, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts the program with an allocator of its own in a folder of its own, where it leaves its files."""
    started: list[subprocess.Popen[str]] = []

    def served(allocator: str = "libjemalloc.so.2", **variables: str) -> Server:
        environment = {**os.environ, "LD_PRELOAD": allocator, "MALLOC_CONF": SAMPLING, **variables}
        process = subprocess.Popen(
            [heap_server], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        started.append(process)
        assert process.stdout is not None
        return Server(*map(int, process.stdout.readline().split()[1:]))

    yield served
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def pull(live_site: LiveSite, story: Story, alice: httpx.Client) -> Callable[..., dict[str, Any]]:
    """Asks for a run on the New-run page, and waits for its end.

    With `meanwhile`, that is called after the first profile, and then the run is stopped.
    """

    def pulled(
        server: Server,
        *,
        collector: str = "jemalloc",
        meanwhile: Callable[[], None] | None = None,
        **fields: object,
    ) -> dict[str, Any]:
        form = {"host": story.host_id, "process": server.key, "collector": collector, "duration": "10", **fields}

        def asked() -> str:  # not before a heartbeat has told the site of the process
            answer = alice.post("/p/shop/record", data=form)
            return answer.headers.get("Location", "").rpartition("/")[2]

        def view() -> dict[str, Any]:
            found: dict[str, Any] = alice.get(f"/api/v1/runs/{run}").json()
            return found

        run = live_site.wait_until(asked)
        live_site.wait_until(lambda: view()["snapshots"] or view()["state"] == "failed", 30)
        if meanwhile is not None:
            meanwhile()
            alice.post(f"/runs/{run}/stop", data={"what": "stop"})
        live_site.wait_until(lambda: view()["state"] in ("ready", "failed"), 40)
        return view()

    return pulled


@pytest.fixture
def bytes_by_path(alice: httpx.Client) -> Callable[[str, int], Counter[str]]:
    """Of one snapshot, in the value type shown by default."""

    def sums(run: str, seq: int) -> Counter[str]:
        text = alice.get(f"/runs/{run}/received/{seq}").content
        profile = read_profile(io.BytesIO(text), resolve=value_type_named)
        return Counter({";".join(stack): values[0] for stack, values in profile.rows()})

    return sums


@pytest.fixture(scope="module", autouse=True)
def agent(live_site: LiveSite, story: Story) -> Iterator[None]:
    """One for all, as its administrator left it."""
    live_site.start_agent(story)
    yield
    live_site.stop_process("agent")


def test_the_leak_of_a_program_with_jemalloc_is_found_by_difference(
    serve: Any, pull: Any, bytes_by_path: Any, alice: httpx.Client
) -> None:
    server = serve()

    run = pull(server, url=server.url, duration="60", snapshot_every="60", meanwhile=lambda: server.get("/grow"))

    assert (run["state"], [snapshot["seq"] for snapshot in run["snapshots"]]) == ("ready", [1, 2]), run["reason"]
    grown = bytes_by_path(run["run"], 2)
    grown.subtract(bytes_by_path(run["run"], 1))
    ((path, growth),) = grown.most_common(1)
    assert "main;serve;grow_index;allocate_block" in path
    assert growth == pytest.approx(GROWN_BYTES, rel=0.05)
    compared = alice.get(f"/api/v1/compare/{run['run']}@1/{run['run']}@2").json()
    assert compared["after"]["total"] - compared["before"]["total"] == pytest.approx(GROWN_BYTES, rel=0.05)
    (shown, *_) = compared["value_types"]
    assert shown["meaning"].endswith("estimated from samples every 512\N{NO-BREAK SPACE}kB")


def test_files_that_the_program_writes_are_snapshots_in_their_order(serve: Any, pull: Any) -> None:
    server = serve()
    for _ in range(2):
        server.get("/dump")
        server.get("/grow")
    server.get("/dump")

    run = pull(server, once="1")

    assert run["state"] == "ready", run["reason"]
    totals = [snapshot["totals"]["inuse_bytes"] for snapshot in run["snapshots"]]
    assert [round((total - totals[0]) / GROWN_BYTES) for total in totals] == [0, 1, 2]
    paths = [snapshot["capture"]["pulled_from"] for snapshot in run["snapshots"]]
    assert paths == [f"jeprof.{server.pid}.{number}.m{number}.heap" for number in range(3)]


def test_the_leak_of_a_program_with_tcmalloc_is_found_by_difference_too(
    serve: Any, pull: Any, bytes_by_path: Any, tmp_path: Path
) -> None:
    server = serve("libtcmalloc.so.4", HEAPPROFILE=f"{tmp_path}/heap")
    server.get("/dump")
    server.get("/grow")
    server.get("/dump")

    by_files = pull(server, collector="tcmalloc", once="1")
    by_url = pull(server, collector="tcmalloc", url=server.url, once="1")

    assert (by_files["state"], by_url["state"]) == ("ready", "ready"), by_files["reason"] + by_url["reason"]
    grown = bytes_by_path(by_files["run"], len(by_files["snapshots"]))
    grown.subtract(bytes_by_path(by_files["run"], 1))
    ((path, growth),) = grown.most_common(1)
    assert (growth, "main;serve;grow_index;allocate_block" in path) == (GROWN_BYTES, True)
    assert by_url["snapshots"][0]["totals"]["inuse_bytes"] >= 2 * GROWN_BYTES
    assert by_url["snapshots"][0]["totals"]["alloc_objects"] >= 46


def test_a_program_that_does_not_profile_is_told_how_to(serve: Any, pull: Any) -> None:
    server = serve(MALLOC_CONF="prof:false")

    by_url = pull(server, url=server.url, once="1")
    by_files = pull(server, once="1")

    assert by_url["state"] == "failed"
    assert "profiling is not enabled in that program" in by_url["reason"]
    assert "MALLOC_CONF=prof:true,prof_active:true,lg_prof_sample:19" in by_url["reason"]
    assert "without prof:true in MALLOC_CONF" in by_files["reason"]


def test_an_agent_pulls_from_where_its_administrator_allows_only(
    serve: Any, pull: Any, alice: httpx.Client, tmp_path: Path
) -> None:
    server = serve()

    by_url = pull(server, url="http://169.254.169.254/latest/meta-data", once="1")
    by_files = pull(server, files=f"{tmp_path}/*", once="1")

    assert "is at 169.254.169.254, and this host's agent pulls from loopback addresses only" in by_url["reason"]
    assert f"{tmp_path}/* is not allowed: this host's agent reads nothing" in by_files["reason"]
    hosts = alice.get("/p/shop/hosts").text
    assert "from loopback addresses; files: those that a process names in its environment" in hosts
