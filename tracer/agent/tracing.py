"""The process that traces, seen from the agent: started, listened to, asked to stop, killed when it does not."""

from __future__ import annotations

import json
import logging
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tracer.agent.children import output_of, start_child
from tracer.agent.spool import Finish, RunFolder
from tracer.protocol import RunSpec
from tracer.pull.allowed import Allowed

logger = logging.getLogger(__name__)

KILL_AFTER_S = 10.0  # between asking the child to stop and SIGKILL
CANCEL_KILL_AFTER_S = 3.0  # nothing is wanted of a cancelled run but that its probes go


@dataclass(slots=True)
class Counts:
    """What the child last told."""

    phase: str = "claimed"
    elapsed_s: float = 0.0
    events: int = 0
    lost: dict[str, int] = field(default_factory=dict)


class TracingProcess:
    """One child, and what was asked of it. `stop` and `kill` may be called from any thread."""

    def __init__(self, spec: RunSpec, folder: RunFolder, *, own_root: int = 0, allowed: Allowed | None = None) -> None:
        """The process `own_root` and those that it started are not recorded."""
        self._started_at, self._spec = time.monotonic(), spec
        allows = (allowed or Allowed()).to_dict()
        task = {"spec": spec.to_dict(), "folder": str(folder.path), "own_root": own_root, "allowed": allows}
        self._process = start_child("tracer.agent.child", task)
        self._events: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._kill_at: float | None = None
        self._stop_reason, self._stop_outcome = "", ""
        self._end: dict[str, Any] | None = None
        self._was_killed = False
        self.is_running = True
        threading.Thread(target=self._read, name=f"{spec.run} output", daemon=True).start()

    @property
    def overtime_s(self) -> float:
        return time.monotonic() - self._started_at - self._spec.duration_s

    @property
    def is_overdue(self) -> bool:
        return self._kill_at is not None and time.monotonic() > self._kill_at

    @property
    def pid(self) -> int:
        return self._process.pid

    def take_events(self, counts: Counts, on_snapshot: Callable[[], None], *, for_s: float) -> None:
        """Note what the child tells for that long, or until it has ended."""
        until = time.monotonic() + for_s
        while self.is_running and (left_s := until - time.monotonic()) > 0:
            try:
                event = self._events.get(timeout=left_s)
            except queue.Empty:
                return
            if event is None:
                self.is_running = False
            elif event["event"] == "snapshot":
                on_snapshot()
            else:
                self._note(event, counts)

    def stop(self, reason: str, *, outcome: str = "stopped") -> None:
        """Ask for the last snapshot and the end; the first one to ask gives the reason."""
        if self._kill_at is None:
            self._stop_reason, self._stop_outcome = reason, outcome
            self._ask(signal.SIGTERM, KILL_AFTER_S)

    def cancel(self) -> None:
        if self._stop_outcome != "cancelled":
            self._stop_reason, self._stop_outcome = "", "cancelled"
            self._ask(signal.SIGUSR1, CANCEL_KILL_AFTER_S)

    def kill(self) -> None:
        """Make sure that it is gone; its probes go with its file descriptors."""
        if self._process.poll() is None:
            self._was_killed = self.is_running
            self._process.kill()
        self._process.wait()

    def finish(self) -> Finish:
        outcome, reason, snapshots = self._own_words()
        if outcome == "stopped" and self._stop_outcome:
            outcome, reason = self._stop_outcome, self._stop_reason
        return Finish(outcome, reason, snapshots)

    def _own_words(self) -> tuple[str, str, int]:
        if self._end is not None:
            return self._end["outcome"], self._end["reason"], int(self._end["snapshots"])
        if self._stop_outcome == "cancelled":
            return "cancelled", "", 0
        if self._was_killed:
            return "failed", "The recording process did not stop when asked, and was killed.", 0
        return "failed", f"The recording process ended by {_exit_words(self._process)}.", 0

    def _note(self, event: dict[str, Any], counts: Counts) -> None:
        if event["event"] == "attached":
            counts.phase = "recording"
        elif event["event"] == "progress":
            counts.elapsed_s, counts.events = float(event["elapsed_s"]), int(event["events"])
            counts.lost = dict(event["lost"])
        elif event["event"] == "end":
            self._end = event

    def _ask(self, number: signal.Signals, kill_after_s: float) -> None:
        self._kill_at = time.monotonic() + kill_after_s
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    def _read(self) -> None:
        with output_of(self._process) as lines:
            for line in lines:
                self._events.put(json.loads(line))
        self._process.wait()
        self._events.put(None)


def _exit_words(process: subprocess.Popen[bytes]) -> str:
    code = process.returncode
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
