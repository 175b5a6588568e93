"""The process that traces: one run spec on standard input, JSON lines on standard output, snapshots into the spool.

    in   {"spec": {"v": 1, "run": "r-8f3kq", …}, "folder": "/var/lib/memflame/spool/r-8f3kq.3f…", "parent": 812,
          "allowed": {"urls": ["loopback"], "files": [], "has_own_files": true}}
    out  {"event": "attached"}
         {"event": "progress", "elapsed_s": 2.5, "events": 4100, "lost": {}}
         {"event": "snapshot", "seq": 1, "elapsed_s": 5.0}
         {"event": "end", "outcome": "done", "reason": "", "snapshots": 1}

SIGTERM, also when the agent dies: take the last snapshot, detach, end. SIGUSR1: detach and end at once (cancelled).
It holds no token, and speaks to no network but for a profile that it is told to pull, from where it is allowed.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any

from tracer.agent.children import read_task
from tracer.agent.spool import RunFolder
from tracer.collectors import CollectorError, Progress
from tracer.collectors.session import run_session
from tracer.profile.model import Profile
from tracer.protocol import RunSpec
from tracer.pull.allowed import Allowed

logger = logging.getLogger(__name__)


class Cancelled(Exception):
    """Leave run_session at once; its recording is closed on the way out."""


class Orders:
    """What signals have asked for."""

    def __init__(self) -> None:
        self._is_stopped = self._is_cancelled = False

    def listen(self) -> None:
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGUSR1, self._cancel)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the agent hears it and passes it on as SIGTERM

    def should_stop(self) -> bool:
        if self._is_cancelled:
            raise Cancelled
        return self._is_stopped

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._is_stopped = True

    def _cancel(self, number: int, frame: FrameType | None) -> None:
        self._is_cancelled = True


class Reporter:
    """Tells the agent what run_session tells, and puts snapshots on disk first."""

    def __init__(self, folder: RunFolder, output: IO[str]) -> None:
        self._folder, self._output = folder, output
        self._snapshots = 0

    def on_attached(self) -> None:
        self._tell("attached")

    def on_progress(self, elapsed_s: float, progress: Progress) -> None:
        self._tell("progress", elapsed_s=elapsed_s, events=progress.events, lost=dict(progress.lost))

    def on_snapshot(self, seq: int, elapsed_s: float, profile: Profile, is_last: bool) -> None:
        self._folder.write_snapshot(seq, elapsed_s, profile)
        self._snapshots += 1
        self._tell("snapshot", seq=seq, elapsed_s=elapsed_s)

    def end(self, outcome: str, reason: str = "") -> None:
        self._tell("end", outcome=outcome, reason=reason, snapshots=self._snapshots)

    def _tell(self, event: str, **values: Any) -> None:
        """A dead agent reads nothing more: what counts is on disk, so go on to the end."""
        with suppress(BrokenPipeError):
            print(json.dumps({"event": event, **values}), file=self._output, flush=True)


def main() -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    output, orders = _own_output(), Orders()
    orders.listen()
    task = read_task()
    folder = RunFolder(Path(task["folder"]))
    with folder.being_written():
        return _record(task, Reporter(folder, output), orders)


def _record(task: Mapping[str, Any], reporter: Reporter, orders: Orders) -> int:
    try:
        outcome = run_session(
            RunSpec.from_dict(task["spec"]),
            reporter,
            orders.should_stop,
            own_root=int(task.get("own_root", 0)),
            allowed=Allowed.from_dict(task["allowed"]) if "allowed" in task else Allowed(),
        )
    except Cancelled:
        reporter.end("cancelled")
    except CollectorError as error:
        reporter.end("failed", str(error))
    except OSError as error:
        logger.exception("recording failed")
        reporter.end("failed", f"{error.strerror or error}: {error.filename or 'the snapshot could not be kept'}")
    except Exception as error:
        logger.exception("recording failed")
        reporter.end("failed", f"The recording ended by an error of memflame: {type(error).__name__}: {error}")
        return 1
    else:
        reporter.end(outcome.reason, outcome.words)
    return 0


def _own_output() -> IO[str]:
    """Standard output for our lines alone: what a library prints goes to the log and can't be taken for an event."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return output


if __name__ == "__main__":
    sys.exit(main())
