"""A run spec of a pulled collector to a whole run: a profile at once, then one every few seconds, one at the end."""

from __future__ import annotations

import time
from collections.abc import Callable

from tracer.collectors.errors import CollectorError
from tracer.collectors.listener import Listener, Outcome, Reason
from tracer.collectors.pull_recording import PullRecording
from tracer.collectors.recording import Progress
from tracer.profile.model import Profile
from tracer.protocol import PROGRESS_EVERY_S, RunSpec
from tracer.pull.allowed import Allowed
from tracer.pull.own_files import WRITTEN
from tracer.pull.parsing import WITHIN_S, Stopped

_STEP_S = 0.1
_LAST_WITHIN_S = 5.0  # of a run that was asked to stop: an agent kills what has not ended after 10 s


def run_pull(
    spec: RunSpec, listener: Listener, should_stop: Callable[[], bool], *, own_root: int, allowed: Allowed
) -> Outcome:
    """What is not there or not allowed at the start ends the run; later a profile may be missing. CollectorError."""
    with PullRecording(spec, own_root=own_root, allowed=allowed) as recording:
        return _PullSession(spec, listener, recording, should_stop).run()


class _PullSession:
    """Each profile is passed on as it comes, so that a page shows it while the run goes on."""

    def __init__(
        self, spec: RunSpec, listener: Listener, recording: PullRecording, should_stop: Callable[[], bool]
    ) -> None:
        self._spec, self._listener, self._recording, self._should_stop = spec, listener, recording, should_stop
        self._began = time.monotonic()
        self._snapshots = 0
        listener.on_attached()

    def run(self) -> Outcome:
        is_once = self._spec.snapshot_every_s <= 0
        self._take(is_last=is_once)
        if self._snapshots == 0 and (is_once or self._recording.failures):
            raise CollectorError(self._why_none())
        reason: Reason = "done" if is_once else self._until_end()
        if self._snapshots == 0:
            raise CollectorError(self._why_none())
        failures = self._recording.failures
        words = f"{len(failures)} of the profiles could not be read, the last: {failures[-1]}" if failures else ""
        return Outcome(reason, self._snapshots, words)

    def _until_end(self) -> Reason:
        every_s, due = self._spec.snapshot_every_s, self._spec.snapshot_every_s
        progress_due = 0.0
        while (elapsed_s := self._elapsed_s()) < self._spec.duration_s:
            if self._should_stop():
                self._take(is_last=True, within_s=_LAST_WITHIN_S)
                return "stopped"
            if self._recording.target_has_exited():
                self._take(is_last=True, within_s=_LAST_WITHIN_S)  # files may have come with the exit
                return "target_exited"
            if elapsed_s >= progress_due:
                self._listener.on_progress(elapsed_s, Progress())
                progress_due = elapsed_s + PROGRESS_EVERY_S
            if elapsed_s >= due:
                self._take(is_last=False)
                due = (self._elapsed_s() // every_s + 1) * every_s
            time.sleep(_STEP_S)
        self._take(is_last=True)
        return "done"

    def _take(self, *, is_last: bool, within_s: float = WITHIN_S) -> None:
        """All that is new. The newest is held back until it is known to be so: it may be the run's last one."""
        held: tuple[float, Profile] | None = None
        try:
            is_stopped = self._is_cancelled if is_last else self._should_stop
            for found in self._recording.profiles(is_stopped, within_s=within_s):
                self._pass_on(held, is_last=False)
                held = found
        except Stopped:
            self._recording.failures.append(f"{self._recording.words}: the run was stopped before it came")
        self._pass_on(held, is_last=is_last)

    def _is_cancelled(self) -> bool:
        """Of a run that ends and wants its last profile still; where it is cancelled, `should_stop` raises."""
        self._should_stop()
        return False

    def _pass_on(self, found: tuple[float, Profile] | None, *, is_last: bool) -> None:
        if found is None:
            return
        self._snapshots += 1
        elapsed_s, profile = found
        self._listener.on_snapshot(self._snapshots, elapsed_s, profile, is_last)

    def _why_none(self) -> str:
        if self._recording.failures:
            return self._recording.failures[-1]
        return (
            f"there is no file named {self._recording.words}, as the process sees it; links are not followed. "
            f"{WRITTEN[self._spec.collector]}"
        )

    def _elapsed_s(self) -> float:
        return time.monotonic() - self._began
