"""Function symbols of one binary, sorted, to the name at an address."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence

from tracer.symbols.demangle import demangled
from tracer.symbols.elf import Segment, Symbol

_LOOKED_BACK = 8  # symbols; a small alias inside a function must not hide it


class SymbolTable:
    """Lookups are by file offset, which is what a mapping tells of an address."""

    def __init__(self, symbols: Iterable[Symbol], segments: Sequence[Segment]) -> None:
        best: dict[int, Symbol] = {}
        for symbol in symbols:
            known = best.get(symbol.address)
            if known is None or _preference(symbol) < _preference(known):
                best[symbol.address] = symbol
        self._symbols = sorted(best.values(), key=lambda symbol: symbol.address)
        self._addresses = [symbol.address for symbol in self._symbols]
        self._segments = segments

    def __len__(self) -> int:
        return len(self._symbols)

    def name_at_offset(self, offset: int) -> str | None:
        for segment in self._segments:
            if segment.offset <= offset < segment.offset + segment.file_bytes:
                return self.name_at(offset - segment.offset + segment.address)
        return None

    def name_at(self, address: int) -> str | None:
        """The function that holds an address, demangled; None in a gap, for a name near by would be a wrong one."""
        position = bisect.bisect_right(self._addresses, address)
        for index in range(position - 1, max(-1, position - 1 - _LOOKED_BACK), -1):
            symbol = self._symbols[index]
            if address < symbol.address + symbol.size or (not symbol.size and index == position - 1):
                return demangled(symbol.name)
        return None


def _preference(symbol: Symbol) -> tuple[bool, int, bool, int, str]:
    """Of several names of one function the one that a program calls: `malloc`, not `__libc_malloc`."""
    underscores = 0 if symbol.name.startswith("_Z") else len(symbol.name) - len(symbol.name.lstrip("_"))
    return (symbol.size == 0, underscores, symbol.is_local, len(symbol.name), symbol.name)
