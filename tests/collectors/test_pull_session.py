"""A run of a pulled collector: when profiles are taken, what a failed one changes, and how it ends."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tracer.collectors import CollectorError, Progress
from tracer.collectors.session import Outcome, run_session
from tracer.profile.model import Profile
from tracer.protocol import RunSpec
from tracer.pull.allowed import Allowed

DUMP = b"heap_v2/1\n  t*: 1: 4096 [0: 0]\n@ 0x5581 0x5592\n  t*: 1: 4096 [0: 0]\n\nMAPPED_LIBRARIES:\n"


class Told:
    """What a listener heard; `then` is called after each snapshot."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.snapshots: list[tuple[Profile, bool]] = []
        self._then = then

    def on_attached(self) -> None:
        """Nothing is counted yet."""

    def on_progress(self, elapsed_s: float, progress: Progress) -> None:
        assert progress.events == 0

    def on_snapshot(self, seq: int, elapsed_s: float, profile: Profile, is_last: bool) -> None:
        self.snapshots.append((profile, is_last))
        assert seq == len(self.snapshots)
        self._then()


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """The address of an endpoint that gives these statuses in turn, the last one for ever."""
    servers: list[ThreadingHTTPServer] = []

    def served(*statuses: int) -> str:
        left = list(statuses)

        class Endpoint(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                self.end_headers()
                self.wfile.write(DUMP if status == 200 else b"busy")

            def log_message(self, format: str, *arguments: object) -> None:
                """Quiet."""

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Endpoint))
        threading.Thread(target=servers[-1].serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/prof"

    yield served
    for server in servers:
        server.shutdown()
        server.server_close()


def run(told: Told, *, pid: int = 0, should_stop: Callable[[], bool] = lambda: False, **spec: float | str) -> Outcome:
    times = {name: float(spec.pop(name, 0)) for name in ("duration_s", "snapshot_every_s")}
    options = {name: str(text) for name, text in spec.items()}
    times["duration_s"] = times["duration_s"] or 10
    return run_session(RunSpec("r-1", "jemalloc", pid, options=options, **times), told, should_stop)


def test_without_an_interval_one_profile_is_taken_and_the_run_is_over(serve):
    told = Told()

    outcome = run(told, url=serve(200))

    assert outcome == Outcome("done", 1)
    ((profile, is_last),) = told.snapshots
    assert (profile.total(), is_last) == (4096, True)
    assert profile.capture["lost"] == {}


def test_a_profile_that_fails_meanwhile_is_told_by_the_next_one(serve):
    told = Told()
    url = serve(200, 500, 200)

    outcome = run(told, url=url, duration_s=2, snapshot_every_s=1)

    assert (outcome.reason, outcome.snapshots) == ("done", 2)
    assert outcome.words.endswith(f"could not be read, the last: {url}: the answer is 500 Internal Server Error")
    assert "1 profile could not be read before this one" in str(told.snapshots[-1][0].capture["notes"])


def test_a_first_profile_that_fails_ends_the_run(serve):
    with pytest.raises(CollectorError, match="the answer is 503 Service Unavailable"):
        run(Told(), url=serve(503), duration_s=60, snapshot_every_s=30)


def test_a_run_that_is_stopped_takes_a_last_profile(serve):
    told = Told()

    outcome = run(told, url=serve(200), duration_s=60, snapshot_every_s=60, should_stop=lambda: bool(told.snapshots))

    assert outcome == Outcome("stopped", 2)
    assert [is_last for _, is_last in told.snapshots] == [False, True]


def test_a_program_that_ends_ends_the_run_with_what_there_is(serve):
    process = subprocess.Popen(["sleep", "60"])
    told = Told(then=process.kill)

    outcome = run(told, pid=process.pid, url=serve(200, 500), duration_s=60, snapshot_every_s=60)

    process.wait()
    assert (outcome.reason, outcome.snapshots) == ("target_exited", 1)
    assert told.snapshots[0][0].capture["pid"] == process.pid


def test_files_that_come_while_it_runs_are_snapshots_too(tmp_path: Path):
    (tmp_path / "jeprof.71.0.i0.heap").write_bytes(DUMP)
    (tmp_path / "jeprof.71.1.i1.heap").write_bytes(b"heap_v2/1\n")

    def add_one() -> None:
        (tmp_path / "jeprof.71.2.f.heap").write_bytes(DUMP)

    told = Told(then=add_one)

    outcome = run(told, files=f"{tmp_path}/jeprof.*.heap", duration_s=1, snapshot_every_s=1)

    assert (outcome.reason, outcome.snapshots) == ("done", 2)
    assert "jeprof.71.1.i1.heap: what came is no heap profile" in outcome.words
    assert [profile.capture["pulled_from"] for profile, _ in told.snapshots] == [
        f"{tmp_path}/jeprof.71.{number}.heap" for number in ("0.i0", "2.f")
    ]


def test_where_there_is_no_file_the_words_say_when_one_comes(tmp_path: Path):
    with pytest.raises(CollectorError, match="there is no file named .*one each lg_prof_interval bytes"):
        run(Told(), files=f"{tmp_path}/jeprof.*.heap")


def test_what_an_agent_does_not_allow_is_not_asked_for(serve):
    spec = RunSpec("r-1", "jemalloc", options={"url": serve(200)})

    with pytest.raises(CollectorError, match="pulls from nothing only"):
        run_session(spec, Told(), lambda: False, allowed=Allowed.of(["none"], []))


def test_one_process_is_pulled_at_a_time():
    spec = RunSpec("r-1", "jemalloc", target="name:worker", options={"url": "http://127.0.0.1/"})

    with pytest.raises(CollectorError, match="one process at a time"):
        run_session(spec, Told(), lambda: False)
