"""A whole site for a test: migrated database, uvicorn, ingest worker and sweep, as real processes on a free port."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).parents[1]
START_WITHIN_S = 60  # on a busy machine; three seconds are usual
SETUP = """
import json
from django.contrib.sessions.backends.db import SessionStore
from webapp.hosts.models import Host
from webapp.teams.models import ApiToken, Membership, Project, Role, Team, User

alice = User.objects.create_user("alice", password="wonderland-7")
team = Team.objects.create(slug="shop", name="Shop")
Membership.objects.create(team=team, user=alice, role=Role.OWNER)
project = Project.objects.create(team=team, slug="shop", name="Shop")
session = SessionStore()
session["_auth_user_id"] = str(alice.pk)
session["_auth_user_backend"] = "django.contrib.auth.backends.ModelBackend"
session["_auth_user_hash"] = alice.get_session_auth_hash()
session.save()
host, agent_token = Host.enrol(team, "test-host")
_, project_token = ApiToken.create(project, "ci", alice)
print(json.dumps({"session": session.session_key, "host_id": host.host_id, "agent_token": agent_token,
                  "project_token": project_token}))
"""


@dataclass(frozen=True, slots=True)
class Story:
    """Alice owns project `shop`; its team has one host."""

    session: str
    host_id: str
    agent_token: str
    project_token: str
    username: str = "alice"
    password: str = "wonderland-7"
    project: str = "shop"


class LiveSite:
    """The site's processes; each is stopped by its pid."""

    def __init__(self, folder: Path, *, database_url: str = "", redis_url: str = "") -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.broker = redis_url or f"memflame-files://{folder}/broker"
        self.env = {
            **os.environ,
            "MEMFLAME_DATA": str(folder),
            "MEMFLAME_DATABASE_URL": database_url or f"sqlite://{folder}/memflame.sqlite3",
            "MEMFLAME_REDIS_URL": redis_url,
            "MEMFLAME_SECRET_KEY": secrets.token_urlsafe(40),
            "MEMFLAME_TOKEN": "",
        }
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def prepare(self) -> Story:
        self.manage("migrate", "-v0")
        self.manage("collectstatic", "--no-input", "-v0")
        return Story(**json.loads(self.manage("shell", "-v0", "-c", SETUP)))

    def start(self) -> None:
        self.start_web()
        self.start_process(
            "worker", "-m", "celery", "-A", "webapp.celery", "worker", "-Q", "ingest", "-P", "solo", "-l", "warning"
        )
        self.start_process("sweep", "manage.py", "sweep")

    def start_agent(self, story: Story) -> None:
        """The agent of the story's host, on this machine."""
        token = self.folder / "agent-token"
        token.touch(0o600)
        token.write_text(story.agent_token)
        options = ["--server", self.url, "--broker", self.broker, "--token-file", str(token)]
        self.start_process("agent", "-m", "tracer", "agent", *options, "--spool", str(self.folder / "spool"))

    def start_web(self) -> None:
        options = ("--host", "127.0.0.1", "--port", str(self.port), "--workers", "1", "--no-access-log")
        self.start_process("web", "-m", "uvicorn", "webapp.asgi:application", *options)
        self.wait_until(self._is_alive, START_WITHIN_S)

    def manage(self, *arguments: str) -> str:
        """What `manage.py` printed."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start_process(self, name: str, *arguments: str) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [sys.executable, *arguments], cwd=ROOT, env=self.env, stdout=log, stderr=log
            )

    def stop_process(self, name: str, number: signal.Signals = signal.SIGTERM) -> None:
        process = self._processes.pop(name)
        process.send_signal(number)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop(self) -> None:
        for name in list(self._processes):
            self.stop_process(name)

    def wait_until(self, is_met: Callable[[], Any], timeout_s: float = 20) -> Any:
        """What a condition returned at last; asked again ten times a second."""
        deadline = time.monotonic() + timeout_s
        while not (found := is_met()):
            assert time.monotonic() < deadline, f"not met within {timeout_s} s\n{self.logs()}"
            time.sleep(0.1)
        return found

    def logs(self) -> str:
        return "\n".join(f"{path.name}: …{path.read_text()[-1500:]}" for path in sorted(self.folder.glob("*.log")))

    def person(self, story: Story) -> httpx.Client:
        """Alice's browser, without one."""
        csrf = "c" * 32
        cookies = {"sessionid": story.session, "csrftoken": csrf}
        return httpx.Client(
            base_url=self.url, cookies=cookies, headers={"X-CSRFToken": csrf}, timeout=30, trust_env=False
        )

    def _is_alive(self) -> bool:
        assert self._processes["web"].poll() is None, self.logs()
        try:
            with urllib.request.urlopen(f"{self.url}/livez", timeout=5) as response:
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def make_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., LiveSite]]:
    """Starts sites: `make_site(database_url=…, redis_url=…)`; SQLite and the file broker by default."""
    started: list[LiveSite] = []

    def make(**urls: str) -> LiveSite:
        started.append(LiveSite(tmp_path_factory.mktemp("site"), **urls))
        return started[-1]

    yield make
    for site in started:
        site.stop()
