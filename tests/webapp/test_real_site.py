"""The real processes: uvicorn and the Celery worker on a fresh folder, asked over HTTP."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
GIGABYTE = 1 << 30

SEED = """
from webapp.teams.models import *
team = Team.objects.create(slug="search", name="Search")
print(ApiToken.create(Project.objects.create(slug="search-api", team=team, name="Search API"), "ci", None)[1])
"""


@dataclass(slots=True)
class Site:
    url: str
    token: str
    env: dict[str, str]
    port: int
    web: psutil.Popen

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def start_web(self) -> None:
        self.web = _started(
            self.env, "-m", "uvicorn", "webapp.asgi:application", "--port", str(self.port), "--no-access-log"
        )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    env = {**os.environ, "MEMFLAME_DATA": str(tmp_path_factory.mktemp("site"))}
    for name in ("MEMFLAME_DATABASE_URL", "MEMFLAME_REDIS_URL"):
        env.pop(name, None)
    _manage(env, "migrate", "-v0")
    token = _manage(env, "shell", "-v0", "-c", SEED).strip()
    port = _free_port()
    worker = _started(
        env, "-m", "celery", "-A", "webapp.celery", "worker", "-Q", "ingest", "-P", "solo", "-l", "warning"
    )
    web = _started(env, "-m", "uvicorn", "webapp.asgi:application", "--port", str(port), "--no-access-log")
    found = Site(f"http://127.0.0.1:{port}", token, env, port, web)
    try:
        _wait_until(lambda: _status(found.url + "/readyz") == 200)
        yield found
    finally:
        for process in (found.web, worker):
            process.send_signal(signal.SIGTERM)
            process.wait(15)


def test_a_plain_upload_gives_a_ready_run(site: Site) -> None:
    address = f"{site.url}/api/v1/projects/search-api/uploads?service=api"

    answer = httpx.post(address, content=b"main;load_index;malloc 4096\n", headers=site.headers, timeout=70)

    assert answer.status_code == 201
    run = httpx.get(f"{site.url}/api/v1/runs/{answer.json()['run']}", headers=site.headers).json()
    assert (run["state"], run["snapshots"][0]["totals"]) == ("ready", {"value": 4096})


def test_a_gigabyte_without_a_length_is_refused_in_bounded_memory(site: Site) -> None:
    address = f"{site.url}/api/v1/projects/search-api/uploads"

    with _peak_rss(site.web) as rise:
        answer = httpx.post(address, content=_one_line(GIGABYTE), headers=site.headers, timeout=70)

    assert answer.status_code == 413
    assert answer.json()["error"].endswith("the limit is 67,108,864 bytes; nothing was stored.")
    assert rise() < 64 << 20


def test_what_was_answered_with_201_outlives_a_killed_site(site: Site) -> None:
    address = f"{site.url}/api/v1/projects/search-api/uploads"
    run = httpx.post(address, content=b"main;killed 7\n", headers=site.headers, timeout=70).json()["run"]

    site.web.kill()
    site.web.wait(10)
    site.start_web()
    _wait_until(lambda: _status(site.url + "/livez") == 200)

    view = httpx.get(f"{site.url}/api/v1/runs/{run}", headers=site.headers).json()
    assert view["snapshots"][0]["totals"] == {"value": 7}


def _one_line(size: int) -> Iterator[bytes]:
    chunk = b"a" * (1 << 20)
    for _ in range(size // len(chunk)):
        yield chunk


@contextmanager
def _peak_rss(process: psutil.Popen) -> Iterator[Callable[[], int]]:
    """How much the process's peak resident set rose; the kernel keeps the peak, reset here."""
    Path(f"/proc/{process.pid}/clear_refs").write_text("5")
    before = _status_kb(process.pid, "VmRSS")
    yield lambda: (_status_kb(process.pid, "VmHWM") - before) << 10


def _status_kb(pid: int, key: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))


def _started(env: dict[str, str], *argv: str) -> psutil.Popen:
    return psutil.Popen(
        [sys.executable, *argv], cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _manage(env: dict[str, str], *argv: str) -> str:
    command = [sys.executable, "manage.py", *argv]
    return subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True).stdout


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _status(url: str) -> int:
    try:
        return httpx.get(url, timeout=5).status_code
    except httpx.HTTPError:
        return 0


def _wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the site did not become ready"
        time.sleep(0.1)
