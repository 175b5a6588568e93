"""One part of perf's recording to stacks: written as text by `perf script`, read by a process without rights."""

from __future__ import annotations

import select
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracer.collectors.errors import CollectorError
from tracer.process.unprivileged import Unprivileged, UnprivilegedError
from tracer.profile.errors import ProfileError
from tracer.profile.folded import read_folded
from tracer.profile.model import Limits, Profile
from tracer.protocol import value_type_named

_PARSER = "tracer.perf.parsing"
_FIELDS = "comm,pid,tid,time,event,trace,ip,sym,symoff,dso"
_LIMITS = Limits(line_bytes=1 << 20, lines=10_000_000)


@dataclass(frozen=True, slots=True)
class Question:
    """What every part is asked: see tracer.perf.parsing."""

    collector: str
    pid: int
    leaf_by_event: Mapping[str, str]
    span_by_event: Mapping[str, list[int]]
    wrappers: Sequence[str]
    max_frames: int


class Part:
    """Being read; `stacks` waits for it and raises CollectorError."""

    def __init__(self, file: Path, question: Question, state: Mapping[str, Any]) -> None:
        self._file = file
        with file.open("rb") as data:
            argument = {
                "collector": question.collector,
                "pid": question.pid,
                "leaves": question.leaf_by_event,
                "spans": question.span_by_event,
                "wrappers": question.wrappers,
                "max_frames": question.max_frames,
                "state": state,
                "data_fd": data.fileno(),
            }
            self._script = subprocess.Popen(
                _script_command(file), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            assert self._script.stdout is not None
            self._reader = Unprivileged(_PARSER, argument, self._script.stdout, pass_fds=[data.fileno()])
            self._script.stdout.close()  # it is the reader's

    def is_answering(self) -> bool:
        """All of it has been read: `stacks` need not wait."""
        return bool(select.select([self._reader.output], [], [], 0)[0])

    def stacks(self) -> Profile:
        try:
            profile = read_folded(self._reader.output, resolve=value_type_named, limits=_LIMITS)
        except ProfileError as error:
            self._finish()
            raise CollectorError(f"what perf recorded was not read: {error}") from error
        self._finish()
        return profile

    def kill(self) -> None:
        self._script.kill()
        self._script.wait()
        self._reader.kill()

    def _finish(self) -> None:
        try:
            self._reader.finish()
        except UnprivilegedError as error:
            raise CollectorError(f"what perf recorded was not read: {error}") from error
        finally:
            self._script.kill()  # it has ended, or nobody reads what it writes
            self._script.wait()
            self._file.unlink(missing_ok=True)


def _script_command(file: Path) -> list[str]:
    return [
        "perf", "script", "--input", str(file), "--fields", _FIELDS,
        "--no-inline",  # perf starts addr2line for each address otherwise
        "--no-demangle",  # names are demangled as those of all other recordings
    ]  # fmt: skip
