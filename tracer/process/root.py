"""A root directory, the target's or ours, to regular files in it: paths and links lead nowhere else.

Through /proc/PID/root alone a link to an absolute path would be followed in our root instead of the target's.
https://man7.org/linux/man-pages/man2/openat2.2.html
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from pathlib import Path

_OPENAT2 = 437  # on every architecture
_RESOLVE_NO_MAGICLINKS, _RESOLVE_NO_SYMLINKS, _RESOLVE_IN_ROOT = 0x02, 0x04, 0x10  # linux/openat2.h
_HOW = struct.Struct("=QQQ")  # flags, mode, resolve


class Root:
    """Stays reachable after the process that has it has exited."""

    def __init__(self, directory: Path) -> None:
        """OSError if there is no such directory, or none for us."""
        self._fd = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def open(self, path: str) -> int | None:
        """A descriptor to read a regular file from, for the caller to close."""
        return self._opened(path, os.O_RDONLY)

    def open_itself(self, path: str) -> int | None:
        """None also for a link: somebody else may have put it there."""
        return self._opened(path, os.O_RDONLY | os.O_NOFOLLOW)

    def open_without_links(self, path: str) -> int | None:
        """None also if any part of the path is a link."""
        return self._opened(path, os.O_RDONLY, resolve=_RESOLVE_NO_SYMLINKS)

    def names_in(self, directory: str) -> list[str]:
        """What is in a directory that no link leads to; empty if there is none."""
        fd = self._descriptor(directory, os.O_RDONLY | os.O_DIRECTORY, resolve=_RESOLVE_NO_SYMLINKS)
        if fd < 0:
            return []
        try:
            return os.listdir(fd)  # noqa: PTH208 - a descriptor
        finally:
            os.close(fd)

    def is_same(self, other: Root) -> bool:
        return os.path.samestat(os.fstat(self._fd), os.fstat(other._fd))

    def close(self) -> None:
        os.close(self._fd)

    def _opened(self, path: str, flags: int, *, resolve: int = 0) -> int | None:
        fd = self._descriptor(path, flags, resolve=resolve)
        if fd < 0:
            return None
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
        return None

    def _descriptor(self, path: str, flags: int, *, resolve: int) -> int:
        """Negative if there is none."""
        # Not blocking: a pipe or a terminal in the place of a file must not hold us up.
        flags |= os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        how = _HOW.pack(flags, 0, resolve | _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS)
        return int(ctypes.CDLL(None).syscall(_OPENAT2, self._fd, os.fsencode(path), how, _HOW.size))
