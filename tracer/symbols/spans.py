""".eh_frame_hdr, the search table of the unwind tables, to where functions begin and end, those without a name too.

https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/ehframechpt.html
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Callable

# The encodings that linkers write on x86_64: version 1; a 4-byte offset from here; a 4-byte count; 4-byte offsets from
# the table's start.
_HEADER = bytes((1, 0x1B, 0x03, 0x3B))
_ENTRY = struct.Struct("=ii")


class FunctionSpans:
    """Looks a function up by any of its addresses; knows none where the table has another form."""

    def __init__(self, table: bytes, table_address: int, read: Callable[[int, int], bytes]) -> None:
        """`read` gives bytes at an address of the file."""
        self._read = read
        self._entries: list[tuple[int, int]] = []  # start of the function, place of its description
        if table[:4] == _HEADER:
            (count,) = struct.unpack_from("=I", table, 8)
            offsets = _ENTRY.iter_unpack(table[12 : 12 + 8 * count])
            self._entries = [(table_address + start, table_address + place) for start, place in offsets]

    def span_at(self, address: int) -> range | None:
        position = bisect.bisect_right(self._entries, address, key=lambda entry: entry[0]) - 1
        if position < 0:
            return None
        start, place = self._entries[position]
        # Length, offset of the common part, start relative to its own place, number of bytes.
        _, _, relative_start, count = struct.unpack("=IIiI", self._read(place, 16))
        if relative_start + place + 8 != start:
            return None
        return range(start, start + count) if address < start + count else None
