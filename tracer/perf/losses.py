"""A perf.data file to how many samples were lost.

https://github.com/torvalds/linux/blob/master/tools/perf/Documentation/perf.data-file-format.txt

PERFILE2, size of the header, size of an attribute, then offset and size of three sections, of which the second is
data: records, each with its type (u32), flags (u16) and size (u16), in a row.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

_MAGIC = b"PERFILE2"
_DATA_AT = 40  # magic, two sizes, the section of attributes
_RECORD_LOST, _RECORD_LOST_SAMPLES = 2, 13  # uapi/linux/perf_event.h
_FILTERED_ON_PURPOSE = 1 << 15  # PERF_RECORD_MISC_LOST_SAMPLES_BPF
_HEAD = struct.Struct("<IHH")
_NUMBER = struct.Struct("<Q")


def lost_samples(fd: int) -> tuple[int, int]:
    """As told meanwhile, other records among them, and as counted at the end (Linux 6.0 and newer)."""
    head = os.pread(fd, _DATA_AT + 16, 0)
    if head[:8] != _MAGIC or len(head) < _DATA_AT + 16:
        return 0, 0
    place, size = struct.unpack_from("<QQ", head, _DATA_AT)
    told = counted = 0
    for kind, flags, body in _records(fd, place, size):
        if kind == _RECORD_LOST and len(body) >= 16:
            told += _NUMBER.unpack_from(body, 8)[0]
        elif kind == _RECORD_LOST_SAMPLES and len(body) >= 8 and not flags & _FILTERED_ON_PURPOSE:
            counted += _NUMBER.unpack_from(body)[0]
    return told, counted


def _records(fd: int, place: int, size: int) -> Iterator[tuple[int, int, bytes]]:
    with open(fd, "rb", buffering=1 << 20, closefd=False) as file:
        file.seek(place)
        while size >= _HEAD.size and len(head := file.read(_HEAD.size)) == _HEAD.size:
            kind, flags, length = _HEAD.unpack(head)
            if length < _HEAD.size:
                return  # damaged: nothing after it can be read
            yield kind, flags, file.read(length - _HEAD.size)
            size -= length
