"""A connection or a file to the profile that comes from it, read by a process without rights."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from typing import IO

from tracer.process.unprivileged import Unprivileged, UnprivilegedError
from tracer.profile.errors import ProfileError
from tracer.profile.folded import MAGIC, read_folded
from tracer.profile.model import Profile
from tracer.protocol import value_type_named
from tracer.pull.dumps import MAX_BYTES
from tracer.pull.errors import PullError

WITHIN_S = 30.0
_PARSING_S = 90.0  # beside: a busy host gives the process its 60 s of processor time more slowly
_READER = "tracer.pull.reading"
_LOOK_UP_EVERY_S = 0.1


class Stopped(Exception):
    """It was no longer wanted."""


def read_heap(
    source: IO[bytes] | socket.socket,
    *,
    collector: str,
    url: str = "",
    within_s: float = WITHIN_S,
    is_stopped: Callable[[], bool],
) -> Profile:
    """Of a connection to the url's host, or of an open file; PullError says why there is none."""
    argument = {"collector": collector, "url": url, "within_s": within_s, "max_bytes": MAX_BYTES}
    reader = Unprivileged(_READER, argument, source)
    try:
        _await(reader.output, time.monotonic() + within_s + _PARSING_S, is_stopped)
        profile = _answer(reader.output)
    except BaseException:
        reader.kill()
        with suppress(UnprivilegedError):
            reader.finish()
        raise
    try:
        reader.finish()
    except UnprivilegedError as error:
        raise PullError(f"the process that reads it failed: {error}") from error
    if profile is None:
        raise PullError("the process that reads it did not answer")
    return profile


def _await(output: IO[bytes], deadline: float, is_stopped: Callable[[], bool]) -> None:
    while not select.select([output], [], [], _LOOK_UP_EVERY_S)[0]:
        if is_stopped():
            raise Stopped
        if time.monotonic() > deadline:
            raise PullError("the process that reads it took too long")


def _answer(output: IO[bytes]) -> Profile | None:
    first = output.readline()
    if first.startswith(b"{"):
        raise PullError(json.loads(first)["error"])
    if not first.startswith(MAGIC.encode()):
        return None
    try:
        return read_folded(chain([first], output), resolve=value_type_named)
    except ProfileError as error:
        raise PullError(f"the profile was not read: {error}") from error
