"""Program headers to the loaded parts of a binary, also where they are those of its debug file, which has not the code.

`objcopy --only-keep-debug` keeps the addresses, and loses where in the binary the code was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracer.symbols.headers import ProgramHeader

_EXECUTABLE = 1  # PF_X
_PAGE = 0x1000


@dataclass(frozen=True, slots=True)
class Segment:
    """A loaded part of the file: file offsets and the addresses they get, before the loader moves them."""

    offset: int
    address: int
    file_bytes: int


def segments_of(loaded: Sequence[ProgramHeader], *, has_code: bool) -> list[Segment]:
    if has_code:
        return [Segment(part.offset, part.address, part.file_bytes) for part in loaded]
    return list(_laid_out(loaded))


def is_cut(loaded: Sequence[ProgramHeader]) -> bool:
    """Whether code is missing: of code, all that is in memory comes from a file."""
    return any(part.flags & _EXECUTABLE and part.file_bytes < part.memory_bytes for part in loaded)


def _laid_out(loaded: Sequence[ProgramHeader]) -> Iterator[Segment]:
    """As linkers do it: each part at the first place behind the one before that its address allows."""
    end = 0
    for part in sorted(loaded, key=lambda part: part.address):
        step = max(part.alignment, _PAGE)
        offset = end + (part.address - end) % step
        yield Segment(offset, part.address, part.memory_bytes)
        end = offset + part.memory_bytes
