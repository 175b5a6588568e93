"""The supervisor with real processes: starts, starts again, stops in order and in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """
import sys
from pathlib import Path
from webapp.runs.supervisor import Service, Supervisor
sh = lambda text: ["/bin/sh", "-c", text]
services = [Service(name, sh(text), grace_s=1.5) for name, text in zip(sys.argv[2::2], sys.argv[3::2])]
Supervisor(services, Path(sys.argv[1]), lambda text: print(text, flush=True)).run()
print("stopped", flush=True)
"""


def _start(log_dir: Path, *services: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", PROGRAM, str(log_dir), *services]
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 15 s"
        time.sleep(0.02)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_sigint_stops_the_last_service_first_and_leaves_nothing(tmp_path: Path) -> None:
    order = tmp_path / "order"
    service = "trap 'echo {0} >> %s; exit 0' TERM; echo up; while :; do sleep 0.05; done" % order  # noqa: UP031
    supervisor = _start(tmp_path, "web", service.format("web"), "agent", service.format("agent"))
    _wait_for(lambda: "up" in _lines(tmp_path / "web.log") and "up" in _lines(tmp_path / "agent.log"))
    children = psutil.Process(supervisor.pid).children(recursive=True)

    os.killpg(supervisor.pid, signal.SIGINT)
    out, _ = supervisor.communicate(timeout=10)

    assert "stopped" in out
    assert _lines(order) == ["agent", "web"]
    assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]


def test_a_service_that_ignores_sigterm_is_killed_after_its_grace(tmp_path: Path) -> None:
    supervisor = _start(tmp_path, "stubborn", "trap '' TERM; echo up; while :; do sleep 0.05; done")
    _wait_for(lambda: "up" in _lines(tmp_path / "stubborn.log"))

    begin = time.monotonic()
    os.kill(supervisor.pid, signal.SIGTERM)
    supervisor.wait(10)

    assert time.monotonic() - begin < 6


def test_a_service_that_dies_is_started_again_and_it_is_said(tmp_path: Path) -> None:
    supervisor = _start(tmp_path, "weak", "echo up; exit 7")
    _wait_for(lambda: len(_lines(tmp_path / "weak.log")) >= 2)

    os.kill(supervisor.pid, signal.SIGINT)
    out, _ = supervisor.communicate(timeout=10)

    assert "weak ended with 7" in out


def test_services_end_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    supervisor = _start(tmp_path, "web", "echo up; exec sleep 60")
    _wait_for(lambda: "up" in _lines(tmp_path / "web.log"))
    children = psutil.Process(supervisor.pid).children()

    supervisor.kill()
    supervisor.wait()

    gone, alive = psutil.wait_procs(children, timeout=5)
    assert not alive
