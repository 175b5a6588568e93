"""Where a run's profiles come from, to those that are there now: one from an address, or each file that is new."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from tracer.profile.model import Profile
from tracer.protocol import MAX_SNAPSHOTS
from tracer.pull.allowed import Allowed, is_loopback
from tracer.pull.connecting import connected
from tracer.pull.dumps import Dump, Place
from tracer.pull.errors import PullError
from tracer.pull.parsing import WITHIN_S, read_heap

_SETTLED_S = 1.0  # since the last write: jemalloc writes a file in many steps, the names of its libraries last
_STEP_S = 0.05

IsStopped = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Pulled:
    """`is_local` says that the files of this host may be those that the profile names."""

    profile: Profile
    taken_at: float  # seconds since 1970
    came_from: str
    is_local: bool = True


class Source(Protocol):
    words: str

    def pulled(self, is_stopped: IsStopped, *, within_s: float = WITHIN_S) -> Iterator[Pulled | PullError]:
        """What is new since the last call, oldest first; what could not be read is told in its place."""


class Endpoint:
    def __init__(self, collector: str, url: str, allowed: Allowed) -> None:
        self._collector, self.words, self._allowed = collector, url, allowed

    def pulled(self, is_stopped: IsStopped, *, within_s: float = WITHIN_S) -> Iterator[Pulled | PullError]:
        try:
            connection, address = connected(self.words, self._allowed)
            with closing(connection):
                connection.settimeout(None)  # or the other process, which shares it, would find it non-blocking
                profile = read_heap(
                    connection, collector=self._collector, url=self.words, within_s=within_s, is_stopped=is_stopped
                )
        except PullError as error:
            yield PullError(f"{self.words}: {error}")
        else:
            yield Pulled(profile, time.time(), self.words, is_loopback(address))


class Files:
    """`of_pid` is the process as it sees itself: files of others are left out."""

    def __init__(self, collector: str, place: Place, *, of_pid: int = 0) -> None:
        self._collector, self._place, self._of_pid = collector, place, of_pid
        self.words = place.path
        self._seen: set[Dump] = set()

    def pulled(self, is_stopped: IsStopped, *, within_s: float = WITHIN_S) -> Iterator[Pulled | PullError]:
        try:
            new = [dump for dump in self._place.dumps(of_pid=self._of_pid) if dump not in self._seen]
        except PullError as error:
            yield error
            return
        if len(self._seen) + len(new) > MAX_SNAPSHOTS:
            count = len(self._seen) + len(new)
            yield PullError(f"{count:,} files are named {self.words}, the limit of a run is {MAX_SNAPSHOTS:,}")
            return
        for dump in new:
            self._seen.add(dump)
            yield self._read(dump, is_stopped, within_s)

    def _read(self, dump: Dump, is_stopped: IsStopped, within_s: float) -> Pulled | PullError:
        try:
            with open(self._place.open(dump), "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
                _await_settled(file.fileno(), is_stopped)
                profile = read_heap(file, collector=self._collector, within_s=within_s, is_stopped=is_stopped)
                return Pulled(profile, os.fstat(file.fileno()).st_mtime, dump.path)
        except PullError as error:
            return PullError(f"{dump.path}: {error}") if not str(error).startswith(dump.path) else error


def _await_settled(fd: int, is_stopped: IsStopped) -> None:
    while 0 <= time.time() - os.fstat(fd).st_mtime < _SETTLED_S and not is_stopped():
        time.sleep(_STEP_S)
