"""All names of one binary as one block of bytes, made once and kept in the cache: symbol table and lines.

header    what it is, a checksum of the rest, sizes, CRC of a debug file that was not found
table     SymbolTable.packed
lines     a SymCache, or nothing
name      of the debug file that was not found
"""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass

from tracer.symbols.demangle import cut
from tracer.symbols.elf import DebugLink, Segment
from tracer.symbols.lines import Lines, Location
from tracer.symbols.table import SymbolTable

_MAGIC = b"memflame names 1"  # the number grows with each change of what follows, and of what names are chosen
_HEADER = struct.Struct("=16sIIQQQQ")  # magic, checksum, CRC of the link; lowest address; bytes of the three parts


class BadEntry(Exception):
    """Not an entry of ours, or one that was damaged: to be made again."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`missing` is a debug file that the binary names and that was nowhere: it may be installed later."""

    table: SymbolTable
    lines: Lines | None
    missing: DebugLink | None

    def locations(self, offset: int) -> list[Location]:
        """Outermost function first; empty if nothing is known of the file offset.

        The function itself is called what its symbol is called, with debug information as without: that one adds the
        inlined functions and the lines.
        """
        address = self.table.address_at(offset)
        return self._at(address) if address is not None else []

    def locations_in_image(self, distance: int) -> list[Location]:
        """The same, of a distance from where the file was loaded."""
        return self._at(self.table.base + distance)

    def _at(self, address: int) -> list[Location]:
        name = self.table.name_at(address)
        found = self.lines.locations(address) if self.lines is not None else []
        if name is None:
            return found
        if not found:
            return [Location(cut(name))]
        return [found[0]._replace(name=cut(name)), *found[1:]]


def packed_entry(table: SymbolTable, segments: list[Segment], lines: bytes, missing: DebugLink | None) -> bytes:
    packed = table.packed()
    packed += bytes(-len(packed) % 8)
    link = missing.name.encode() if missing is not None else b""
    content = packed + lines + link
    base = min((segment.address for segment in segments), default=0)
    sizes = len(packed), len(lines), len(link)
    return _HEADER.pack(_MAGIC, zlib.crc32(content), missing.crc if missing else 0, base, *sizes) + content


def has_lines(fd: int) -> bool:
    """Of an entry in a file, whether it takes more than the symbol table to open it."""
    try:
        return bool(_HEADER.unpack(os.pread(fd, _HEADER.size, 0))[5])
    except (OSError, struct.error):
        return False


def unpacked_entry(packed: memoryview) -> Entry:
    """BadEntry for anything else than `packed_entry` wrote. Nothing is copied."""
    try:
        magic, checksum, link_crc, base, *sizes = _HEADER.unpack_from(packed)
    except struct.error:
        raise BadEntry("shorter than a header") from None
    content = packed[_HEADER.size :]
    if magic != _MAGIC or len(content) != sum(sizes) or zlib.crc32(content) != checksum:
        raise BadEntry("not what was written")
    table, lines, link = content[: sizes[0]], content[sizes[0] : sizes[0] + sizes[1]], content[sizes[0] + sizes[1] :]
    try:
        return Entry(
            SymbolTable.unpacked(table),
            Lines(lines, base) if len(lines) else None,
            DebugLink(bytes(link).decode(), link_crc) if len(link) else None,
        )
    except (ValueError, UnicodeDecodeError) as error:
        raise BadEntry(str(error)) from None
