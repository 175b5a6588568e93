"""An ELF file to what a profiler needs of it: build id, loaded segments, function symbols, code.

https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html. pyelftools reads the structure; symbol tables, which may
hold a million entries, are unpacked here.
"""

from __future__ import annotations

import io
import lzma
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracer.symbols.spans import FunctionSpans

if TYPE_CHECKING:
    from typing_extensions import Buffer

_SYMBOL = struct.Struct("=IBxHQQ")  # Elf64_Sym: name, information, section, value, size
_FUNCTION, _INDIRECT_FUNCTION = 2, 10  # STT_FUNC, STT_GNU_IFUNC
_UNDEFINED = 0
_UNPACKING_BYTES, _UNPACKED_BYTES = 128 << 20, 64 << 20


class ElfError(Exception):
    """Not an ELF file that we can read; the message says why."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A loaded part of the file: file offsets and the addresses they get, before the loader moves them."""

    offset: int
    address: int
    file_bytes: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function, mangled as in the file."""

    address: int
    size: int
    name: str
    is_local: bool


@dataclass(frozen=True, slots=True)
class DebugLink:
    """Name and CRC-32 of a file of debug information."""

    name: str
    crc: int


class RawSymbols:
    """A symbol table as it is in the file."""

    def __init__(self, table: bytes, names: bytes) -> None:
        self._table, self._names = table, names

    def entries(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Place of the name, information, section, address, size."""
        whole = len(self._table) // _SYMBOL.size * _SYMBOL.size
        return _SYMBOL.iter_unpack(memoryview(self._table)[:whole])

    def name(self, place: int) -> bytes:
        end = self._names.find(b"\0", place)
        return self._names[place:end] if end >= 0 else b""


def is_function(information: int, section: int) -> bool:
    return information & 15 in (_FUNCTION, _INDIRECT_FUNCTION) and section != _UNDEFINED


class _Content(io.RawIOBase):
    """A descriptor from a position of its own: another reader of it may have moved the one they share."""

    def __init__(self, fd: int) -> None:
        self._fd, self._position = fd, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        count = os.preadv(self._fd, [buffer], self._position)
        self._position += count
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: os.fstat(self._fd).st_size}
        self._position = starts[whence] + offset
        return self._position


class ElfFile:
    """Reads from a descriptor that stays the caller's; 64-bit little-endian files only."""

    def __init__(self, fd: int) -> None:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile

        self._stream = io.BufferedReader(_Content(fd))
        try:
            self._elf: Any = ELFFile(self._stream)
            if self._elf.elfclass != 64 or not self._elf.little_endian:
                raise ElfError(f"{self._elf.elfclass}-bit ELF, expected 64-bit little-endian")
            self.segments = [
                Segment(part["p_offset"], part["p_vaddr"], part["p_filesz"])
                for part in self._elf.iter_segments("PT_LOAD")
            ]
        except (ELFError, OSError, ValueError, struct.error) as error:
            self._stream.close()
            raise ElfError(str(error) or "not an ELF file") from error
        except ElfError:
            self._stream.close()
            raise

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> ElfFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def functions(self) -> Iterator[Symbol]:
        """Of both symbol tables; a name in both occurs twice."""
        for table in self.symbol_tables():
            for name, information, index, address, size in table.entries():
                if is_function(information, index):
                    yield Symbol(address, size, table.name(name).decode("utf-8", "replace"), information >> 4 == 0)

    def symbol_tables(self) -> Iterator[RawSymbols]:
        for name in (".symtab", ".dynsym"):
            section = self._section(name)
            if section is not None:
                names = self._elf.get_section(section["sh_link"])
                yield RawSymbols(section.data(), names.data())

    def debug_link(self) -> DebugLink | None:
        """The file of debug information that was split off this one, https://sourceware.org/gdb/current/onlinedocs/gdb.html/Separate-Debug-Files.html."""
        section = self._section(".gnu_debuglink")
        content = section.data() if section is not None else b""
        name, _, _ = content.partition(b"\0")
        if not name or len(content) < 5:
            return None
        return DebugLink(name.decode("utf-8", "replace"), int.from_bytes(content[-4:], "little"))

    def small_symbols(self) -> bytes | None:
        """`.gnu_debugdata`, a packed ELF file of the symbols that were stripped, as distributions leave it."""
        section = self._section(".gnu_debugdata")
        if section is None:
            return None
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_UNPACKING_BYTES)
        try:
            return unpacker.decompress(section.data(), _UNPACKED_BYTES)
        except lzma.LZMAError as error:
            raise ElfError(f".gnu_debugdata: {error}") from error

    def has_lines(self) -> bool:
        """Whether it tells of inlined functions and lines (DWARF)."""
        return any(self._section(name) is not None for name in (".debug_info", ".zdebug_info"))

    def exported_functions(self) -> dict[str, Symbol]:
        """By name: the functions that others may call, and a whole executable's global ones."""
        return {symbol.name: symbol for symbol in self.functions() if not symbol.is_local}

    def spans(self) -> FunctionSpans:
        for segment in self._elf.iter_segments("PT_GNU_EH_FRAME"):
            return FunctionSpans(segment.data(), segment["p_vaddr"], self.code)
        return FunctionSpans(b"", 0, self.code)

    def code(self, address: int, count: int) -> bytes:
        self._stream.seek(self.file_offset(address))
        return self._stream.read(count)

    def file_offset(self, address: int) -> int:
        for segment in self.segments:
            if segment.address <= address < segment.address + segment.file_bytes:
                return address - segment.address + segment.offset
        raise ElfError(f"no segment of the file holds address {address:#x}")

    def _section(self, name: str) -> Any:
        """None also for one whose content is in another file."""
        section = self._elf.get_section_by_name(name)
        return None if section is None or section["sh_type"] == "SHT_NOBITS" else section
