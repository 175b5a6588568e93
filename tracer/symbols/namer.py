"""The recording's end of a worker: start it, ask it, be rid of it when it fails or does not answer in time."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from tracer.symbols.messages import Disconnected, receive, send

_KEPT_ENVIRONMENT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL")


class NamerError(Exception):
    """No answer, or one that says why not."""


class Namer:
    """Parts are those of worker.main."""

    def __init__(self, parts: Sequence[str]) -> None:
        self.parts = frozenset(parts)
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tracer.symbols.worker", *parts],
                stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
            )  # fmt: skip

    def ask(self, request: dict[str, Any], files: Sequence[int] = (), *, within_s: float) -> tuple[Any, list[int]]:
        """The answer, and files for the caller to close. NamerError if there is none; it may still be alive then."""
        self._connection.settimeout(max(within_s, 0.01))
        try:
            send(self._connection, request, files)
            answer, made = receive(self._connection)
        except Disconnected as error:
            self.close()
            raise NamerError(f"no answer from the process that reads it: {error}") from error
        if isinstance(answer, dict) and "error" not in answer:
            return answer, made
        for fd in made:
            os.close(fd)
        raise NamerError(str(answer["error"]) if isinstance(answer, dict) else "not an answer")

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
