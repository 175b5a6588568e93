"""The build id of an ELF file: what the linker made of its content, equal in a binary and in its debug file.

Read without a parser of whole files and within bounds, since a recording asks it of any file that its target maps.
https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.pheader.html, note section
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

_HEADER = struct.Struct("=4s2B10x8x8xQ8x6xHH")  # magic, class, byte order, place, size and number of program headers
_PROGRAM_HEADER = struct.Struct("=IIQQQQ")  # type, flags, offset, address, address, bytes in the file
_NOTE = struct.Struct("=III")  # bytes of name and content, type
_MAGIC = b"\x7fELF"
_64_BIT, _LITTLE_ENDIAN = 2, 1
_PT_NOTE, _NT_GNU_BUILD_ID = 4, 3
_MAX_HEADERS, _MAX_NOTE_BYTES, _MAX_BYTES = 256, 65_536, 64


def build_id_of(fd: int) -> str | None:
    """In hexadecimal; None for a file without one, or one too long to be true, and for what is no 64-bit ELF file."""
    try:
        return next((note for offset, size in _note_segments(fd) for note in _build_ids(fd, offset, size)), None)
    except (OSError, OverflowError, struct.error):
        return None


def is_elf(fd: int) -> bool:
    try:
        return os.pread(fd, 4, 0) == _MAGIC
    except OSError:
        return False


def _note_segments(fd: int) -> Iterator[tuple[int, int]]:
    magic, bits, order, table, size, count = _HEADER.unpack(os.pread(fd, _HEADER.size, 0))
    if (magic, bits, order) != (_MAGIC, _64_BIT, _LITTLE_ENDIAN):
        return
    for number in range(min(count, _MAX_HEADERS)):
        entry = os.pread(fd, _PROGRAM_HEADER.size, table + number * size)
        kind, _, offset, _, _, file_bytes = _PROGRAM_HEADER.unpack(entry)
        if kind == _PT_NOTE:
            yield offset, min(file_bytes, _MAX_NOTE_BYTES)


def _build_ids(fd: int, offset: int, size: int) -> Iterator[str]:
    notes = os.pread(fd, size, offset)
    place = 0
    while place + _NOTE.size <= len(notes):
        name_bytes, content_bytes, kind = _NOTE.unpack_from(notes, place)
        name = place + _NOTE.size
        content = name + _padded(name_bytes)
        if kind == _NT_GNU_BUILD_ID and notes[name : name + name_bytes] == b"GNU\0" and 0 < content_bytes <= _MAX_BYTES:
            yield notes[content : content + content_bytes].hex()
        place = content + _padded(content_bytes)


def _padded(size: int) -> int:
    return (size + 3) & ~3
