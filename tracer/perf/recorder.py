"""perf record, started and told what to do: events of one process into files, one for each part of a recording."""

from __future__ import annotations

import ctypes
import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_READY_WITHIN_S = 30.0
_WRITTEN_WITHIN_S = 10.0
_ENDED_WITHIN_S = 20.0
_LOOK_AGAIN_S = 0.005
_OLDEST = (5, 10)  # the first that is told by --control when to begin, and answers
_DWARF_STACK_BYTES = 8192


class PerfError(Exception):
    """perf did not do what was asked; the text is perf's own, or says what is missing."""


@cache
def perf_obstacle() -> str:
    """Empty if perf is there and new enough, else a sentence."""
    if shutil.which("perf") is None:
        return "perf is missing: install the package linux-perf (Debian) or linux-tools (Ubuntu)."
    said = subprocess.run(["perf", "--version"], capture_output=True, text=True).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None:
        return "perf does not run on this kernel: install the package that fits it."
    if (int(found[1]), int(found[2])) < _OLDEST:
        return f"perf {found[0]} is too old, {'.'.join(map(str, _OLDEST))} or newer is needed."
    return ""


class PerfRecorder:
    """Counts from `begin` on; `part` closes a file and goes on with another, `end` closes the last."""

    def __init__(self, directory: Path, pid: int, *, events: Sequence[str], unwind: str, pages: int) -> None:
        self._file = directory / "perf.data"
        self._errors = directory / "errors"
        self._taken: set[Path] = set()
        control, self._control = os.pipe()
        self._answers, answers = os.pipe()
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                _command(self._file, pid, events, unwind, pages, control=control, answers=answers),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=(control, answers),
                start_new_session=True,  # Ctrl-C is for us, who then end it in order
                preexec_fn=_die_with_parent,
            )
        os.close(control)
        os.close(answers)

    def begin(self) -> None:
        """Return once events are counted."""
        with suppress(BrokenPipeError):
            os.write(self._control, b"enable\n")
        if not (select.select([self._answers], [], [], _READY_WITHIN_S)[0] and os.read(self._answers, 64)):
            self.kill()
            raise PerfError(self._last_words() or "perf did not begin to record")

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def written_bytes(self) -> int:
        """Of the part that is being written."""
        try:
            return self._file.stat().st_size
        except FileNotFoundError:
            return 0

    def part(self) -> Path | None:
        """What was recorded since the last part; None if perf has ended meanwhile."""
        if not self.is_running:
            return None
        self._process.send_signal(signal.SIGUSR2)
        deadline = time.monotonic() + _WRITTEN_WITHIN_S
        while time.monotonic() < deadline and self.is_running:
            if found := sorted(set(self._file.parent.glob("perf.data.*")) - self._taken):
                self._taken.add(found[0])
                return found[0]
            time.sleep(_LOOK_AGAIN_S)  # it is renamed when complete; nothing else tells
        return None

    def end(self) -> list[Path]:
        """Parts that have not been taken yet. PerfError if perf failed, in its own words."""
        if self.is_running:
            self._process.send_signal(signal.SIGINT)
        try:
            code = self._process.wait(_ENDED_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise PerfError("perf did not end when asked, and was killed") from None
        left = sorted(set(self._file.parent.glob("perf.data*")) - self._taken)
        if code not in (0, -signal.SIGINT, -signal.SIGTERM) or not left:
            raise PerfError(self._last_words() or f"perf record ended with {code}")
        self._taken.update(left)
        return left

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        for fd in (self._control, self._answers):
            os.close(fd)

    def _last_words(self) -> str:
        lines = self._errors.read_text(errors="replace").split("\n")
        return " ".join(line.strip() for line in lines if line.strip())[:500]


def _command(
    file: Path, pid: int, events: Sequence[str], unwind: str, pages: int, *, control: int, answers: int
) -> list[str]:
    graph = f"dwarf,{_DWARF_STACK_BYTES}" if unwind == "dwarf" else "fp"
    return [
        "perf", "record", "--quiet", "--output", str(file), "--pid", str(pid),
        *(word for event in events for word in ("--event", event)),
        "--count", "1", "--call-graph", graph, "--user-callchains", "--mmap-pages", str(pages),
        "--no-buildid", "--no-buildid-cache", "--switch-output=signal",
        "--delay", "-1", "--control", f"fd:{control},{answers}",
    ]  # fmt: skip


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
