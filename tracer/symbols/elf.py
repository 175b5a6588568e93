"""An ELF file to what a profiler needs of it: loaded segments, function symbols, code, and where its debug file is.

https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
"""

from __future__ import annotations

import lzma
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from tracer.symbols.headers import ElfError as ElfError
from tracer.symbols.headers import Headers, content
from tracer.symbols.segments import Segment as Segment
from tracer.symbols.segments import is_cut, segments_of
from tracer.symbols.spans import FunctionSpans

_SYMBOL = struct.Struct("=IBxHQQ")  # Elf64_Sym: name, information, section, value, size
_FUNCTION, _INDIRECT_FUNCTION = 2, 10  # STT_FUNC, STT_GNU_IFUNC
_UNDEFINED = 0
_EXECUTABLE = 1  # PF_X
_RELOCATION = struct.Struct("=QQq")  # Elf64_Rela: place, information, addend
_GLOBAL_DATA, _JUMP_SLOT = 6, 7  # R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT
_PT_LOAD, _PT_GNU_EH_FRAME = 1, 0x6474E550
_UNPACKING_BYTES, _UNPACKED_BYTES = 128 << 20, 64 << 20


@dataclass(frozen=True, slots=True)
class Section:
    """A named part of the file, and the address it gets before the loader moves it."""

    address: int
    content: bytes


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


class ElfFile:
    """Reads from a descriptor that stays the caller's; 64-bit little-endian files only, ElfError for others."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        try:
            self._headers = Headers(fd)
            self._programs = self._headers.programs()
            self._sections = self._headers.sections()
        except OSError as error:
            raise ElfError(str(error)) from error
        loaded = [part for part in self._programs if part.kind == _PT_LOAD]
        self.has_code = ".text" in self._sections or not is_cut(loaded)  # or it is a debug file, made by objcopy
        self.segments = segments_of(loaded, has_code=self.has_code)

    def __enter__(self) -> ElfFile:
        return self

    def __exit__(self, *_: object) -> None:
        """It holds nothing open."""

    def functions(self) -> Iterator[Symbol]:
        """Of both symbol tables; a name in both occurs twice."""
        for table in self.symbol_tables():
            for name, information, index, address, size in table.entries():
                if is_function(information, index):
                    yield Symbol(address, size, table.name(name).decode("utf-8", "replace"), information >> 4 == 0)

    def symbol_tables(self) -> Iterator[RawSymbols]:
        for name in (".symtab", ".dynsym"):
            section = self._sections.get(name)
            if section is not None:
                yield RawSymbols(self._content(name), self._headers.section_content(section.link))

    def debug_link(self) -> DebugLink | None:
        """The file of debug information that was split off this one."""
        link = self._content(".gnu_debuglink")
        name, _, _ = link.partition(b"\0")
        if not name or len(link) < 5:
            return None
        return DebugLink(name.decode("utf-8", "replace"), int.from_bytes(link[-4:], "little"))

    def small_symbols(self) -> bytes:
        """`.gnu_debugdata`, an ELF file of symbols that were stripped, as some distributions leave it; or nothing."""
        packed = self._content(".gnu_debugdata")
        if not packed:
            return b""
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_UNPACKING_BYTES)
        try:
            return unpacker.decompress(packed, _UNPACKED_BYTES)
        except lzma.LZMAError as error:
            raise ElfError(f".gnu_debugdata: {error}") from error

    def has_lines(self) -> bool:
        """Whether it tells of inlined functions and lines (DWARF)."""
        return any(name in self._sections for name in (".debug_info", ".zdebug_info"))

    def has_section(self, *names: str) -> bool:
        """Whether it has any of them."""
        return any(name in self._sections for name in names)

    def section(self, name: str) -> Section | None:
        found = self._sections.get(name)
        return Section(found.address, self._content(name)) if found is not None else None

    def linked_functions(self) -> dict[int, int]:
        """Own functions that the file reaches through its table of linked ones, by the address of their slot there."""
        symbols = RawSymbols(self._content(".dynsym"), b"")
        own = {number: address for number, (_, _, index, address, _) in enumerate(symbols.entries()) if index}
        address_by_slot: dict[int, int] = {}
        for name in (".rela.plt", ".rela.dyn"):
            raw = self._content(name)
            for slot, information, _ in _RELOCATION.iter_unpack(raw[: len(raw) // 24 * 24]):
                if information & 0xFFFFFFFF in (_JUMP_SLOT, _GLOBAL_DATA) and information >> 32 in own:
                    address_by_slot[slot] = own[information >> 32]
        return address_by_slot

    def has_code_at(self, address: int) -> bool:
        return any(
            part.kind == _PT_LOAD and part.flags & _EXECUTABLE and 0 <= address - part.address < part.file_bytes
            for part in self._programs
        )

    def exported_functions(self) -> dict[str, Symbol]:
        """By name: the functions that others may call, and a whole executable's global ones."""
        return {symbol.name: symbol for symbol in self.functions() if not symbol.is_local}

    def spans(self) -> FunctionSpans:
        for part in self._programs:
            if part.kind == _PT_GNU_EH_FRAME:
                return FunctionSpans(content(self._fd, part.offset, part.file_bytes), part.address, self.code)
        return FunctionSpans(b"", 0, self.code)

    def code(self, address: int, count: int) -> bytes:
        return content(self._fd, self.file_offset(address), count)

    def file_offset(self, address: int) -> int:
        for segment in self.segments:
            if segment.address <= address < segment.address + segment.file_bytes:
                return address - segment.address + segment.offset
        raise ElfError(f"no segment of the file holds address {address:#x}")

    def _content(self, name: str) -> bytes:
        section = self._sections.get(name)
        return content(self._fd, section.offset, section.size) if section is not None else b""
