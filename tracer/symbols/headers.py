"""The tables at the head of an ELF file: program headers, what is loaded where, and sections by name.

Unpacked within bounds and without a parser of what they lead to, since a recording asks them of any file that its
target maps. https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

_FILE = struct.Struct("=4sBB10x8x8xQQ6xHHHHH")
_PROGRAM = struct.Struct("=IIQQ8xQQQ")  # type, flags, offset, address, bytes in the file and in memory, alignment
_SECTION = struct.Struct("=II8xQQQI20x")  # name, type, address, offset, size, link
_64_BIT, _LITTLE_ENDIAN = 2, 1
_NO_CONTENT = (0, 8)  # SHT_NULL, SHT_NOBITS: the content is in another file
_MAX_NAME, _MAX_NAMES = 256, 1 << 20  # bytes of the name of a section, and of all of them
_MAX_HEADERS = 65_535  # more are written in a way of their own; no binary that runs has them


class ElfError(Exception):
    """Not an ELF file that we can read; the message says why."""


@dataclass(frozen=True, slots=True)
class ProgramHeader:
    kind: int
    flags: int
    offset: int
    address: int
    file_bytes: int
    memory_bytes: int
    alignment: int


@dataclass(frozen=True, slots=True)
class Section:
    address: int
    offset: int
    size: int
    link: int  # number of the section that holds its names, say


class Headers:
    """Of a descriptor that stays the caller's; ElfError unless it is a 64-bit little-endian file."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        header = content(fd, 0, _FILE.size)
        if len(header) < _FILE.size or header[:4] != b"\x7fELF":
            raise ElfError("not an ELF file")
        _, bits, order, self._programs, self._sections, *sizes = _FILE.unpack(header)
        if (bits, order) != (_64_BIT, _LITTLE_ENDIAN):
            raise ElfError("not a 64-bit little-endian ELF file")
        self._program_size, self._program_count, self._section_size, self._section_count, self._names = sizes

    def programs(self) -> list[ProgramHeader]:
        raw = _table(self._fd, self._programs, self._program_size, self._program_count, _PROGRAM)
        return [ProgramHeader(*fields) for fields in raw]

    def sections(self) -> dict[str, Section]:
        """Those that have content in this file."""
        raw = _table(self._fd, self._sections, self._section_size, self._section_count, _SECTION)
        text = self._section_names(raw)
        return {
            text[name : name + _MAX_NAME].partition(b"\0")[0].decode("utf-8", "replace"): Section(
                address, offset, size, link
            )
            for name, kind, address, offset, size, link in raw
            if kind not in _NO_CONTENT
        }

    def _section_names(self, raw: list[tuple[int, ...]]) -> bytes:
        if self._names >= len(raw):
            return b""
        _, _, _, offset, size, _ = raw[self._names]
        return content(self._fd, offset, min(size, _MAX_NAMES))

    def section_content(self, number: int) -> bytes:
        """Of the section with that number, as links have it."""
        raw = _table(self._fd, self._sections, self._section_size, self._section_count, _SECTION)
        return content(self._fd, *raw[number][3:5]) if number < len(raw) else b""


def content(fd: int, offset: int, size: int) -> bytes:
    """As far as the file reaches, however large the numbers."""
    whole = os.fstat(fd).st_size
    return os.pread(fd, min(size, whole - offset), offset) if offset < whole else b""


def _table(fd: int, offset: int, size: int, count: int, entry: struct.Struct) -> list[tuple[int, ...]]:
    if size != entry.size:
        return []
    raw = content(fd, offset, size * min(count, _MAX_HEADERS))
    return list(entry.iter_unpack(raw[: len(raw) // size * size]))
