"""Files of debug information that distributions install apart from their binaries: where they are, and whose they are.

https://sourceware.org/gdb/current/onlinedocs/gdb.html/Separate-Debug-Files.html
/usr/lib/debug/.build-id/93/ac61ec5a8eb1396f9fbd350e3169a558528a40.debug     by build id
/usr/lib/debug/usr/bin/search-api.debug                                      by a link in the binary, and a checksum
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from tracer.symbols.build_id import build_id_of
from tracer.symbols.elf import DebugLink

Open = Callable[[str], int | None]
"""Opens a regular file by its absolute path in one root directory; None if there is none."""

_DEBUG = "/usr/lib/debug"
_MAX_BYTES = 4 << 30  # of a file whose checksum is taken: some seconds
_PIECE = 1 << 20


def debug_file_by_build_id(build_id: str, roots: Sequence[Open]) -> int | None:
    """An open descriptor, for the caller to close."""
    path = f"{_DEBUG}/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
    return _first(_opened([path], roots), lambda fd: build_id_of(fd) == build_id)


def debug_file_by_link(path: str, link: DebugLink, build_id: str | None, roots: Sequence[Open]) -> int | None:
    """An open descriptor; `path` and `build_id` are the binary's. Where both files have an id, that one decides."""

    def is_of_binary(fd: int) -> bool:
        other = build_id_of(fd)
        return other == build_id if build_id and other else _crc_of(fd) == link.crc

    if "/" in link.name or not path.startswith("/"):
        return None
    folder = path.rpartition("/")[0]
    places = [f"{folder}/{link.name}", f"{folder}/.debug/{link.name}", f"{_DEBUG}{folder}/{link.name}"]
    return _first(_opened(places, roots), is_of_binary)


def _opened(paths: Iterable[str], roots: Sequence[Open]) -> Iterator[int]:
    for path in paths:
        for opened in roots:
            fd = opened(path)
            if fd is not None:
                yield fd


def _first(fds: Iterator[int], is_wanted: Callable[[int], bool]) -> int | None:
    for fd in fds:
        if is_wanted(fd):
            return fd
        os.close(fd)
    return None


def _crc_of(fd: int) -> int | None:
    size = os.fstat(fd).st_size
    if size > _MAX_BYTES:
        return None
    checksum = 0
    for offset in range(0, size, _PIECE):
        checksum = zlib.crc32(os.pread(fd, _PIECE, offset), checksum)
    return checksum
