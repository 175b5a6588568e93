"""An ELF file to what a profiler needs of it: build id, loaded segments, function symbols, code.

https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html. pyelftools reads the structure; symbol tables, which may
hold a million entries, are unpacked here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from tracer.symbols.spans import FunctionSpans

_SYMBOL = struct.Struct("=IBBHQQ")  # Elf64_Sym: name, information, other, section, value, size
_FUNCTION, _INDIRECT_FUNCTION = 2, 10  # STT_FUNC, STT_GNU_IFUNC
_UNDEFINED = 0


class ElfError(Exception):
    """Not an ELF file that we can read; the message says why."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A loaded part of the file: file offsets and the addresses they get, before the loader moves them."""

    offset: int
    address: int
    file_bytes: int


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


class ElfFile:
    """Reads from a descriptor that stays the caller's; 64-bit little-endian files only."""

    def __init__(self, fd: int) -> None:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile

        # Not os.dup: a duplicate shares its position with every other reader of the descriptor.
        self._stream: BinaryIO = Path(f"/proc/self/fd/{fd}").open("rb")  # noqa: SIM115 - `close` does
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

    def build_id(self) -> str | None:
        for segment in self._elf.iter_segments("PT_NOTE"):
            for note in segment.iter_notes():
                if note["n_type"] == "NT_GNU_BUILD_ID":
                    return str(note["n_desc"])
        return None

    def functions(self) -> list[Symbol]:
        """Of both symbol tables; a name in both occurs twice."""
        return [*self._functions(".symtab"), *self._functions(".dynsym")]

    def exported_functions(self) -> dict[str, Symbol]:
        """By name: the functions that others may call, and a whole executable's global ones."""
        return {symbol.name: symbol for symbol in self.functions() if not symbol.is_local}

    def spans(self) -> FunctionSpans:
        for segment in self._elf.iter_segments("PT_GNU_EH_FRAME"):
            return FunctionSpans(segment.data(), segment["p_vaddr"], self.code)
        return FunctionSpans(b"", 0, self.code)

    def section(self, name: str) -> Section | None:
        found = self._elf.get_section_by_name(name)
        return Section(found["sh_addr"], found.data()) if found is not None else None

    def code(self, address: int, count: int) -> bytes:
        self._stream.seek(self.file_offset(address))
        return self._stream.read(count)

    def file_offset(self, address: int) -> int:
        for segment in self.segments:
            if segment.address <= address < segment.address + segment.file_bytes:
                return address - segment.address + segment.offset
        raise ElfError(f"no segment of the file holds address {address:#x}")

    def _functions(self, section: str) -> Iterator[Symbol]:
        table = self._elf.get_section_by_name(section)
        if table is None or table["sh_type"] == "SHT_NOBITS":  # a file of debug information only
            return
        names = self._elf.get_section(table["sh_link"]).data()
        raw = table.data()
        for name, information, _, index, address, size in _SYMBOL.iter_unpack(raw[: len(raw) // 24 * 24]):
            if information & 15 in (_FUNCTION, _INDIRECT_FUNCTION) and index != _UNDEFINED:
                text = names[name : names.index(b"\0", name)].decode("utf-8", "replace")
                yield Symbol(address, size, text, is_local=information >> 4 == 0)
