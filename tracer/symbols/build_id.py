"""The build id of an ELF file: what the linker made of its content, equal in a binary and in its debug file.

https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.pheader.html, note section
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator

from tracer.symbols.headers import ElfError, Headers, content

_NOTE = struct.Struct("=III")  # bytes of name and content, type
_SECTION = ".note.gnu.build-id"
_PT_NOTE, _NT_GNU_BUILD_ID = 4, 3
_MAX_NOTE_BYTES, _MAX_BYTES = 65_536, 64


def build_id_of(fd: int) -> str | None:
    """In hexadecimal; None for a file without one, or one too long to be true, and for what is no 64-bit ELF file."""
    try:
        headers = Headers(fd)
        notes = [(part.offset, part.file_bytes) for part in headers.programs() if part.kind == _PT_NOTE]
        return _first(fd, notes) or _first(fd, _in_sections(headers))
    except (ElfError, OSError):
        return None


def _first(fd: int, places: Iterable[tuple[int, int]]) -> str | None:
    return next((note for offset, size in places for note in _build_ids(fd, offset, size)), None)


def _in_sections(headers: Headers) -> Iterator[tuple[int, int]]:
    """Program headers of a debug file that eu-strip made are those of the binary: they point beside its notes."""
    section = headers.sections().get(_SECTION)
    if section is not None:
        yield section.offset, section.size


def is_elf(fd: int) -> bool:
    try:
        return os.pread(fd, 4, 0) == b"\x7fELF"
    except OSError:
        return False


def _build_ids(fd: int, offset: int, size: int) -> Iterator[str]:
    notes = content(fd, offset, min(size, _MAX_NOTE_BYTES))
    place = 0
    while place + _NOTE.size <= len(notes):
        name_bytes, content_bytes, kind = _NOTE.unpack_from(notes, place)
        name = place + _NOTE.size
        described = name + _padded(name_bytes)
        end = described + content_bytes
        is_build_id = kind == _NT_GNU_BUILD_ID and notes[name : name + name_bytes] == b"GNU\0"
        if is_build_id and 0 < content_bytes <= _MAX_BYTES and end <= len(notes):
            yield notes[described:end].hex()
        place = described + _padded(content_bytes)


def _padded(size: int) -> int:
    return (size + 3) & ~3
