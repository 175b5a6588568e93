"""Names of binaries on disk: what was read from one once is not read again, by the next snapshot or the next run.

The folder is of the user who records and closed to all others, since what it holds names other people's frames.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

FOLDER_ENV = "MEMFLAME_CACHE"
MAX_BYTES = 512 << 20
_SUFFIX = ".names"


class NameStore:
    """Bounded: what was not used for longest goes first. Several processes may use one folder."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._folder, self._max_bytes = folder, max_bytes
        self._is_usable = self._is_ours()

    def open(self, key: str) -> int | None:
        """A descriptor to read from, for the caller to close."""
        if not self._is_usable:
            return None
        try:
            fd = os.open(self._path(key), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
        with suppress(OSError):
            os.utime(fd)  # used now; the time of access is not kept on many file systems
        return fd

    def keep(self, key: str, content: bytes) -> None:
        """Replaces what is there, at once and whole. A disk that is full loses the entry, not the recording."""
        if not self._is_usable or len(content) > self._max_bytes:
            return
        with suppress(OSError):
            fd, name = tempfile.mkstemp(prefix="new-", suffix=_SUFFIX, dir=self._folder)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(content)
                os.replace(name, self._path(key))  # noqa: PTH105 - both are in one folder
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            self._trim()

    def drop(self, key: str) -> None:
        with suppress(OSError):
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{_SUFFIX}"

    def _is_ours(self) -> bool:
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self._folder.lstat()
            return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
        return False

    def _trim(self) -> None:
        """Leave a tenth free, so that not each new entry looks through the folder in vain."""
        kept = sorted(self._entries(), reverse=True)
        total = sum(size for _, size, _ in kept)
        if total <= self._max_bytes:
            return
        while kept and total > self._max_bytes * 0.9:
            _, size, path = kept.pop()
            path.unlink(missing_ok=True)
            total -= size

    def _entries(self) -> Iterator[tuple[int, int, Path]]:
        """Time of last use, size; of files that were left half written too."""
        for path in self._folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):
                status = path.lstat()
                yield status.st_mtime_ns, status.st_size, path


def default_store() -> NameStore:
    """In the folder of MEMFLAME_CACHE, else where the system keeps such for root and for others."""
    if folder := os.environ.get(FOLDER_ENV):
        return NameStore(Path(folder))
    if os.geteuid() == 0:
        return NameStore(Path("/var/cache/memflame"))
    return NameStore(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memflame")
