"""A run spec to a whole run: wait, report progress, take snapshots at their times and one at the end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from tracer.collectors import PerfRecording, Recording, start
from tracer.collectors.listener import Listener, Outcome, Reason
from tracer.collectors.pull_session import run_pull
from tracer.protocol import PROGRESS_EVERY_S, RunSpec
from tracer.pull.allowed import EVERYTHING, Allowed

__all__ = ["Listener", "Outcome", "run_session"]

_STEP_S = 0.1  # how soon a wish to stop is heard


def run_session(
    spec: RunSpec,
    listener: Listener,
    should_stop: Callable[[], bool],
    *,
    own_root: int = 0,
    allowed: Allowed = EVERYTHING,
) -> Outcome:
    """Record as the spec says; whatever ends it, a last snapshot is taken. Raise CollectorError.

    `allowed` is what may be pulled here: a person on the command line has rights of their own.
    """
    if spec.is_pulled:
        return run_pull(spec, listener, should_stop, own_root=own_root, allowed=allowed)
    with start(spec, own_root=own_root) as recording:
        return _Session(spec, listener, recording).run(should_stop)


class _Session:
    def __init__(self, spec: RunSpec, listener: Listener, recording: Recording | PerfRecording) -> None:
        self._spec, self._listener, self._recording = spec, listener, recording
        self._began = time.monotonic()
        self._snapshots = 0
        self._words = ""
        self._progress_due = 0.0
        self._snapshot_due = self._due_after(0)
        listener.on_attached()

    def run(self, should_stop: Callable[[], bool]) -> Outcome:
        reason = self._until_end(should_stop)
        self._listener.on_progress(self._elapsed_s(), self._recording.progress())
        self._snapshot(is_last=True)
        return Outcome(reason, self._snapshots, self._words)

    def _until_end(self, should_stop: Callable[[], bool]) -> Reason:
        while (left := self._spec.duration_s - self._elapsed_s()) > 0:
            if should_stop():
                return "stopped"
            if not self._recording.wait(min(left, _STEP_S)):
                return "target_exited"
            if words := self._recording.over_budget():
                self._recording.release()
                self._words = words
                return "over_budget"
            self._report()
        return "done"

    def _report(self) -> None:
        elapsed_s = self._elapsed_s()
        if elapsed_s >= self._progress_due:
            self._listener.on_progress(elapsed_s, self._recording.progress())
            self._progress_due = elapsed_s + PROGRESS_EVERY_S
        # One that is due together with the end is the last one.
        if self._snapshot_due <= elapsed_s < self._spec.duration_s:
            self._snapshot(is_last=False)
            self._snapshot_due = self._due_after(elapsed_s)

    def _snapshot(self, *, is_last: bool) -> None:
        self._snapshots += 1
        elapsed_s = self._elapsed_s()
        profile = self._recording.last_snapshot() if is_last else self._recording.snapshot()
        self._listener.on_snapshot(self._snapshots, elapsed_s, profile, is_last)

    def _due_after(self, elapsed_s: float) -> float:
        every_s = self._spec.snapshot_every_s
        return (elapsed_s // every_s + 1) * every_s if every_s > 0 else math.inf

    def _elapsed_s(self) -> float:
        return time.monotonic() - self._began
