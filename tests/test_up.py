"""`manage.py up`, as `make run` starts it: ready in time, its login works, the demo is real, Ctrl-C leaves nothing."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.targets import built_leaky_service
from tracer.bpf.syscalls import loaded_program_ids

ROOT = Path(__file__).resolve().parent.parent
READY_WITHIN_S = 30
STOPPED_WITHIN_S = 10
FIRST_DEMO_RUN_WITHIN_S = 90


class Up:
    """One `manage.py up` in a folder of the test, in its own process group."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.output = folder, folder / "output"
        environment = {key: text for key, text in os.environ.items() if not key.startswith("MEMFLAME_")}
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), "up", *options],
                env={**environment, "MEMFLAME_DATA": str(folder)},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def text(self) -> str:
        return self.output.read_text()

    def wait_for(self, look: Callable[[], Any], within_s: float) -> Any:
        deadline = time.monotonic() + within_s
        while not (found := look()):
            assert time.monotonic() < deadline, f"not within {within_s} s\n{self.text}\n{self._logs()}"
            time.sleep(0.1)
        return found

    def _logs(self) -> str:
        return "\n".join(f"== {log.name}\n{log.read_text()[-1500:]}" for log in (self.folder / "log").glob("*.log"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def start_up(tmp_path: Path) -> Iterator[Callable[..., Up]]:
    started: list[Up] = []

    def start(*options: str) -> Up:
        (tmp_path / "demo").mkdir(exist_ok=True)
        binary = tmp_path / "demo" / "leaky_service"
        if not binary.exists():
            binary.symlink_to(built_leaky_service())
        started.append(Up(tmp_path, *options))
        return started[-1]

    yield start
    for up in started:
        if up.process.poll() is None:
            up.process.terminate()
            up.process.wait(15)


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz").status_code == 200
    except httpx.TransportError:
        return False


def _signed_in(url: str, output: str) -> httpx.Client:
    """A browser that used the printed login."""
    name, password = re.findall(r"^  (?:login|password) +(\S+)$", output, re.MULTILINE)
    browser = httpx.Client(base_url=url, follow_redirects=True, timeout=30)
    browser.get("/login")
    form = {"username": name, "password": password, "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
    answer = browser.post("/login", data=form, headers={"Referer": f"{url}/login"})
    assert answer.url.path == "/p/demo/", answer.text
    return browser


def _first_demo_run(browser: httpx.Client) -> dict[str, Any] | None:
    runs = browser.get("/api/v1/projects/demo/runs?state=ready").json()["runs"]
    return runs[-1] if runs else None


def _names_in_payload(browser: httpx.Client, run: str) -> bytes:
    view = browser.get(f"/api/v1/runs/{run}").json()
    last = view["snapshots"][-1]
    tag = last["tags"]["outstanding_bytes"][0]
    place = view["payload_url"].format(seq=last["seq"], value_type="outstanding_bytes", tag=tag, stage="overview")
    return browser.get(place).content


def _programs_below(pid: int) -> set[int]:
    """Ids of the BPF programs that the process's descendants hold; their file descriptors say so."""
    ids: set[int] = set()
    for process in psutil.Process(pid).children(recursive=True):
        with suppress(OSError):
            for path in Path(f"/proc/{process.pid}/fdinfo").iterdir():
                ids.update(int(number) for number in re.findall(r"^prog_id:\s+(\d+)", path.read_text(), re.MULTILINE))
    return ids


@pytest.mark.ebpf
@pytest.mark.timeout(240)
def test_one_command_gives_a_site_with_a_real_demo_and_ctrl_c_leaves_nothing(start_up: Callable[..., Up]) -> None:
    port = _free_port()
    up, url = start_up("--port", str(port)), f"http://127.0.0.1:{port}"

    up.wait_for(lambda: _is_ready(url), READY_WITHIN_S)
    up.wait_for(lambda: "password" in up.text, 5)
    with closing(_signed_in(url, up.text)) as browser:
        run = up.wait_for(lambda: _first_demo_run(browser), FIRST_DEMO_RUN_WITHIN_S)
        assert b"session_new" in _names_in_payload(browser, run["run"])
    started = psutil.Process(up.process.pid).children(recursive=True)
    assert len(started) >= 5

    programs = up.wait_for(lambda: _programs_below(up.process.pid), FIRST_DEMO_RUN_WITHIN_S)  # of the next demo run
    os.killpg(up.process.pid, signal.SIGINT)
    up.process.wait(STOPPED_WITHIN_S)

    assert not [process for process in started if process.is_running()]
    assert not programs & set(loaded_program_ids())
    assert up.text.rstrip().endswith("stopped")


def test_a_taken_port_is_said_before_anything_starts(start_up: Callable[..., Up]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        up = start_up("--port", str(port))
        code = up.process.wait(30)

    assert code != 0
    assert f"can't listen on 127.0.0.1 port {port}: Address already in use" in up.text
    assert f"PORT={port + 1}" in up.text
    assert not (up.folder / "memflame.sqlite3").exists()
