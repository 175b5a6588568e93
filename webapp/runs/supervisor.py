"""Processes that belong together: started in order, started again when they die, stopped in reverse order."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

PR_SET_PDEATHSIG = 1
LOOK_EVERY_S = 0.2
STEADY_AFTER_S = 30.0
LONGEST_PAUSE_S = 30.0  # between two starts of a process that dies at once


@dataclass(slots=True)
class Service:
    """One process. `grace_s` is how long it gets between SIGTERM and SIGKILL."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    grace_s: float = 3.0
    as_root: bool = False  # through sudo where we are not root ourselves
    runs_once: bool = False  # not started again after it ended with 0
    process: subprocess.Popen[bytes] | None = None
    restarts: int = 0
    started_at: float = 0.0
    start_after: float = 0.0

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


class Supervisor:
    """Runs services until SIGINT or SIGTERM; every service logs into `log_dir/NAME.log`."""

    def __init__(self, services: Sequence[Service], log_dir: Path, say: Callable[[str], None]) -> None:
        self.services, self.log_dir, self.say = list(services), log_dir, say
        self.is_stopping = False

    def run(self) -> None:
        """Return when everything is stopped. Handlers are set first: a shell's `&` leaves SIGINT ignored."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        self.log_dir.mkdir(parents=True, exist_ok=True)
        try:
            while not self.is_stopping:
                for service in self.services:
                    self._keep_alive(service)
                time.sleep(LOOK_EVERY_S)
        finally:
            self.stop()

    def stop(self) -> None:
        """The agent first, so that its probes are gone and its last snapshot is sent while the site still answers."""
        last_out, *others = reversed(self.services)
        _stop([last_out])
        _stop(others)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True

    def _keep_alive(self, service: Service) -> None:
        if service.is_alive or time.monotonic() < service.start_after or self.is_stopping:
            return
        if service.process is not None:
            if not (service.runs_once and service.process.returncode == 0):
                self._note_death(service, service.process.returncode)
            return
        service.process = self._start(service)

    def _note_death(self, service: Service, code: int) -> None:
        if time.monotonic() - service.started_at > STEADY_AFTER_S:
            service.restarts = 0
        pause = min(2.0**service.restarts, LONGEST_PAUSE_S)
        self.say(f"{service.name} ended with {code}, see {self.log_dir / service.name}.log; again in {pause:.0f} s")
        service.restarts, service.process, service.start_after = service.restarts + 1, None, time.monotonic() + pause

    def _start(self, service: Service) -> subprocess.Popen[bytes]:
        service.started_at = time.monotonic()
        with (self.log_dir / f"{service.name}.log").open("ab") as log:
            return subprocess.Popen(
                [*_sudo(service), *service.argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **service.env},
                # A group of its own, so that Ctrl-C reaches us only and we stop them in order; but our terminal, on
                # which sudo remembers that it has asked.
                process_group=0,
                preexec_fn=_die_with_parent,
            )


def _sudo(service: Service) -> list[str]:
    if not service.as_root or os.geteuid() == 0:
        return []
    return ["sudo", "-n", f"--preserve-env={','.join(service.env)}"]


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _stop(services: Sequence[Service]) -> None:
    """SIGTERM to all of them, then SIGKILL to those that outlive their grace."""
    alive = [service for service in services if service.is_alive]
    for service in alive:
        _signal(service, signal.SIGTERM)
    begin = time.monotonic()
    for service in alive:
        assert service.process is not None
        try:
            service.process.wait(max(0.1, begin + service.grace_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            _signal(service, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                service.process.wait(1)


def _signal(service: Service, number: signal.Signals) -> None:
    assert service.process is not None
    if _sudo(service):  # another user's process: only root may signal it, and a small system has no kill program
        text = f"import os; os.killpg({service.process.pid}, {number.value})"
        subprocess.run(["sudo", "-n", sys.executable, "-c", text], check=False)
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(service.process.pid, number)
