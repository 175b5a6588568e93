"""A map of JIT-compiled code to names of addresses: one function a line, written by the program as it compiles.

https://github.com/torvalds/linux/blob/master/tools/perf/Documentation/jit-interface.txt
3ef414c0 398 RegExp:[{(]
3ef418a0 7f8 LazyCompile:~loadIndex /srv/app/index.js:12:20
"""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Iterator, Sequence

from tracer.symbols.demangle import cut

MAX_BYTES = 64 << 20  # read of a map, from its end: later lines are of code that was compiled later
_PIECE = 1 << 20
_LINE = re.compile(rb"(?:0x)?([0-9a-fA-F]{1,16})[ \t]+(?:0x)?([0-9a-fA-F]{1,16})[ \t]+([^\n]*)")


def names_in_map(fd: int, addresses: Sequence[int]) -> dict[int, str]:
    """Of those that lie in a function. Where functions overlap the later line is right: code was replaced."""
    wanted = sorted(set(addresses))
    found: dict[int, bytes] = {}
    for line in _lines(fd):
        entry = _LINE.match(line)
        if entry is None:
            continue
        start = int(entry[1], 16)
        first = bisect.bisect_left(wanted, start)
        for address in wanted[first : bisect.bisect_left(wanted, start + int(entry[2], 16), first)]:
            found[address] = entry[3]
    return {address: _text(name) for address, name in found.items()}


def _lines(fd: int) -> Iterator[bytes]:
    """Whole ones: the program may be writing the last."""
    end = os.fstat(fd).st_size
    place = max(0, end - MAX_BYTES)
    rest, is_cut = b"", place > 0
    while place < end and (piece := os.pread(fd, min(_PIECE, end - place), place)):
        place += len(piece)
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines[1 if is_cut else 0 :]
        is_cut = False
        if len(rest) > _PIECE:  # no line of a map
            rest = b""


def _text(name: bytes) -> str:
    return cut(name.decode("utf-8", "replace").strip().replace("\0", "\N{REPLACEMENT CHARACTER}")) or "[jit]"
