"""The recording's end of a worker: start it, ask it, be rid of it when it fails or does not answer in time."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from tracer.symbols.messages import READS_LINES, Disconnected, receive, send

_KEPT_ENVIRONMENT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL")


Meanwhile = Callable[[], object]
_LOOK_UP_EVERY_S = 0.02


def _nothing() -> None:
    """Nobody has something else to do."""


class NamerError(Exception):
    """No answer, or one that says why not."""


class Namer:
    """`reads_lines` if debug information, or an entry that was made of some, will be handed to it."""

    def __init__(self, *, reads_lines: bool) -> None:
        self.reads_lines = reads_lines
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tracer.symbols.worker", *([READS_LINES] if reads_lines else [])],
                stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
            )  # fmt: skip

    def ask(
        self, request: dict[str, Any], files: Sequence[int] = (), *, within_s: float, meanwhile: Meanwhile = _nothing
    ) -> tuple[Any, list[int]]:
        """The answer, and files for the caller to close. NamerError if there is none; it may still be alive then.

        `meanwhile` is called again and again until there is one, and should take no longer than some milliseconds.
        """
        self._connection.settimeout(max(within_s, 0.01))
        try:
            send(self._connection, request, files)
            self._await_answer(within_s, meanwhile)
            answer, made = receive(self._connection)
        except Disconnected as error:
            self.close()
            raise NamerError(f"no answer from the process that reads it: {error}") from error
        if isinstance(answer, dict) and "error" not in answer:
            return answer, made
        for fd in made:
            os.close(fd)
        raise NamerError(str(answer["error"]) if isinstance(answer, dict) else "not an answer")

    def _await_answer(self, within_s: float, meanwhile: Meanwhile) -> None:
        deadline = time.monotonic() + within_s
        while not select.select([self._connection], [], [], _LOOK_UP_EVERY_S)[0] and time.monotonic() < deadline:
            meanwhile()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._connection.fileno() >= 0

    def close(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()
