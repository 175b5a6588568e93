"""A small HTTP site at the other end of the wire: it answers as the agent's API does and remembers what it was sent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import psutil
import pytest

from tests.site_fixture import LiveSite, Story, make_site

__all__ = ["make_site"]  # a fixture

MEMFLAME = Path(sys.executable).with_name("memflame")


@dataclass(frozen=True, slots=True)
class Answer:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class StubSite:
    """`answers[path]` are given in turn, the last one for ever; unknown paths are 404."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answers: dict[str, deque[Answer]] = defaultdict(deque)
        self._changed = threading.Condition()
        self._server = _QuietServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, *answers: Answer) -> None:
        self.answers[path] = deque(answers)

    def take(self, request: Request) -> Answer:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
            waiting = self.answers.get(request.path)
            if not waiting:
                return Answer(404, {"error": "There is nothing here."})
            return waiting.popleft() if len(waiting) > 1 else waiting[0]

    def to(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]

    def wait_for(self, is_met: Callable[[], Any], timeout_s: float = 15) -> Any:
        """What `is_met` returned at last; asked again after each request and four times a second."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while not (found := is_met()):
                if time.monotonic() > deadline:
                    seen = "\n".join(f"{r.method} {r.path} {r.body[:200]!r}" for r in self.requests[-20:])
                    raise AssertionError(f"not met within {timeout_s} s; last requests:\n{seen}")
                self._changed.wait(0.25)
        return found


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """An agent that the test killed resets its connection: no news."""


def _handler(site: StubSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *arguments: Any) -> None:
            """Quiet."""

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): text for name, text in self.headers.items()}
            answer = site.take(Request(self.command, parts.path, parse_qs(parts.query), headers, body))
            if answer.delay_s:
                threading.Event().wait(answer.delay_s)
            self._send(answer)

        def _send(self, answer: Answer) -> None:
            body = json.dumps(answer.body).encode() if not isinstance(answer.body, bytes) else answer.body
            self.send_response(answer.status)
            for name, text in answer.headers.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = _serve

    return Handler


@pytest.fixture
def stub_site() -> Iterator[StubSite]:
    site = StubSite()
    yield site
    site.close()


@pytest.fixture
def answer() -> type[Answer]:
    return Answer


class AgentProcess:
    """`memflame agent` as a person starts it, with its log."""

    def __init__(self, server: str, spool: Path, log: Path, *options: str, token: str = "mfa_abcdefgh_secret") -> None:
        self.spool, self._log = spool, log
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [MEMFLAME, "agent", "--server", server, "--spool", spool, *options],
                env={**os.environ, "MEMFLAME_TOKEN": token},
                stdout=out,
                stderr=out,
            )

    @property
    def log(self) -> str:
        return self._log.read_text()

    def tracing_children(self) -> list[int]:
        """Processes that trace for this agent."""
        try:
            children = psutil.Process(self.process.pid).children()
            return [child.pid for child in children if "tracer.agent.child" in child.cmdline()]
        except psutil.NoSuchProcess:
            return []

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(15)


@pytest.fixture
def start_agent(tmp_path: Path) -> Iterator[Callable[..., AgentProcess]]:
    """Starts agents that the test may kill; those left are ended."""
    started: list[AgentProcess] = []

    def start(server: str, *options: str, spool: Path | None = None, **arguments: Any) -> AgentProcess:
        log = tmp_path / f"agent-{len(started)}.log"
        started.append(AgentProcess(server, spool or tmp_path / "spool", log, *options, **arguments))
        return started[-1]

    yield start
    for agent in started:
        agent.stop(signal.SIGKILL)


@pytest.fixture
def wait_until() -> Callable[..., Any]:
    """What a condition returned at last; asked again ten times a second."""

    def wait(is_met: Callable[[], Any], timeout_s: float = 15, *, or_show: Callable[[], str] = lambda: "") -> Any:
        deadline = time.monotonic() + timeout_s
        while not (found := is_met()):
            if time.monotonic() > deadline:
                raise AssertionError(f"not met within {timeout_s} s: {or_show()}")
            time.sleep(0.1)
        return found

    return wait


@pytest.fixture(scope="session")
def live_site(make_site: Callable[..., LiveSite]) -> LiveSite:
    """The real site on SQLite and files; `story` starts it."""
    return make_site()


@pytest.fixture(scope="session")
def story(live_site: LiveSite) -> Story:
    story = live_site.prepare()
    live_site.start()
    return story


@pytest.fixture(scope="session")
def alice(live_site: LiveSite, story: Story) -> Iterator[httpx.Client]:
    with live_site.person(story) as browser:
        yield browser
