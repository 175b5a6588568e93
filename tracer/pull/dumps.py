"""A pattern of paths to the heap profiles that a process has written there, oldest first, each opened safely.

jeprof.4711.0.i0.heap   prefix, process, number, why it was written: jemalloc
service.0003.heap       prefix and number: gperftools
service_4712.0003.heap  of a process that the first one started
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tracer.process.root import Root
from tracer.pull.errors import PullError

_OF_JEMALLOC = re.compile(r"\.(?P<pid>\d{1,10})\.(?P<number>\d{1,18})\.[a-z]\d*\.heap")
_OF_GPERFTOOLS = re.compile(r"(?:_(?P<pid>\d{1,10}))?\.(?P<number>\d{1,18})\.heap")
MAX_BYTES = 64 << 20  # DESIGN.md 4.7


@dataclass(frozen=True, slots=True)
class Dump:
    """`pid` is the one that the process sees itself; 0 where the name tells none."""

    path: str
    pid: int
    number: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where to look, and what of it may be read: `path` begins at `root`, and its last part is a pattern."""

    root: Root
    path: str
    is_allowed: Callable[[str], bool]  # by its path; others are not even told of
    owner: int | None = None  # only files of this user

    def dumps(self, *, of_pid: int = 0) -> list[Dump]:
        """By their number; PullError where the files of several processes would be mixed."""
        found = sorted(self._found(), key=lambda dump: (dump.number, dump.path))
        if of_pid:
            found = [dump for dump in found if dump.pid == of_pid] or [dump for dump in found if not dump.pid]
        pids = sorted({dump.pid for dump in found if dump.pid})
        if len(pids) > 1:
            listed = ", ".join(map(str, pids[:5]))
            raise PullError(f"{self.path} names files of {len(pids)} processes ({listed}): name one of them")
        return found

    def open(self, dump: Dump) -> int:
        """A descriptor for the caller to close; PullError says why it is not read."""
        fd = self.root.open_without_links(dump.path)
        if fd is None:
            raise PullError(f"{dump.path} is gone, or no regular file that can be read; links are not followed")
        if reason := self._obstacle(os.fstat(fd)):
            os.close(fd)
            raise PullError(f"{dump.path} is not read: {reason}")
        return fd

    def _found(self) -> Iterator[Dump]:
        directory, pattern = posixpath.split(self.path)
        for name in self.root.names_in(directory or "."):
            path = posixpath.join(directory, name)
            if fnmatchcase(name, pattern) and self.is_allowed(path):
                yield _dump(path)

    def _obstacle(self, status: os.stat_result) -> str:
        if status.st_nlink != 1:
            return f"it has {status.st_nlink} names, the limit is 1"
        if status.st_size > MAX_BYTES:
            return f"it has {status.st_size:,} bytes, the limit is {MAX_BYTES:,}"
        if self.owner not in (None, status.st_uid):
            return f"it is of user {status.st_uid}, and the process that names it of {self.owner}"
        return ""


def _dump(path: str) -> Dump:
    name = posixpath.basename(path)
    found = _OF_JEMALLOC.search(name) or _OF_GPERFTOOLS.search(name)
    return Dump(path, int(found["pid"] or 0), int(found["number"])) if found else Dump(path, 0, 0)
