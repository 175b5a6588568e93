"""DWARF of a binary to what stands behind an address: functions, inlined ones too, with file and line (symbolic).

https://dwarfstd.org/. Reading it takes seconds for a large program, so it becomes a SymCache, which opens at once:
https://docs.rs/symbolic-symcache/
"""

from __future__ import annotations

import mmap
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tracer.symbols.demangle import cut
from tracer.symbols.elf import ElfError

if TYPE_CHECKING:
    from symbolic.symcache import SourceLocation


class Location(NamedTuple):
    """One function at an address, mangled, with the place in its source; line 0 is not known."""

    name: str
    file: str = ""
    line: int = 0


class Lines:
    """`base` is the lowest loaded address of the binary, from which a SymCache counts."""

    def __init__(self, packed: memoryview, base: int) -> None:
        from symbolic.exceptions import SymbolicError
        from symbolic.symcache import SymCache

        self._base = base
        try:
            self._cache = SymCache.from_bytes(_buffers().from_buffer(packed))
        except SymbolicError as error:
            raise ValueError(f"not a SymCache: {error}") from None

    def locations(self, address: int) -> list[Location]:
        """Outermost function first; without those that only a symbol tells of."""
        found = self._cache.lookup(address - self._base) if address >= self._base else []
        return [_location(place) for place in reversed(found) if place.line or len(found) > 1]


def _location(place: SourceLocation) -> Location:
    return Location(cut(place.symbol), cut((place.full_path or "").rpartition("/")[2]), place.line)


def packed_lines(fd: int) -> bytes:
    """ElfError if the library can't read them."""
    from symbolic.debuginfo import Archive
    from symbolic.exceptions import SymbolicError

    found = None
    with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as content:
        view = _buffers().from_buffer(content)
        try:
            found = next(iter(Archive.from_bytes(view).iter_objects()), None)
            packed: bytes = found.make_symcache().open_stream().read() if found is not None else b""
        except SymbolicError as error:
            raise ElfError(f"debug information: {error}") from error
        finally:
            del found
            _buffers().release(view)
    return packed


def load() -> None:
    """Import now what is needed: a process that gives up its rights may not reach the files any more."""
    import symbolic.debuginfo  # noqa: F401

    _buffers()


@cache
def _buffers() -> Any:
    """Hands out memory without a copy: a program of 200 MB stays in the page cache."""
    from cffi import FFI

    return FFI()
