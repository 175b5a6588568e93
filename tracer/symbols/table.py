"""Function symbols of a binary, sorted, to the name at an address; as columns, so that a file of them opens at once."""

from __future__ import annotations

import bisect
import struct
from array import array
from collections.abc import Iterable, Sequence

from tracer.symbols.elf import RawSymbols, Segment, Symbol, is_function

_LOOKED_BACK = 8  # symbols; a small alias inside a function must not hide it
_COUNTS = struct.Struct("=QQ")  # segments, symbols
_LOCAL = 1 << 63  # beside a size, which is never that large


class SymbolTable:
    """Lookups are by file offset, which is what a mapping tells of an address."""

    def __init__(
        self, segments: Sequence[Segment], addresses: Sequence[int], sizes: Sequence[int], names: Sequence[int],
        text: bytes | memoryview,
    ) -> None:  # fmt: skip
        """Symbols by address; `names` are places in `text` where names begin, and one more where the last one ends."""
        self._segments = segments
        self._addresses, self._sizes, self._names, self._text = addresses, sizes, names, text

    def __len__(self) -> int:
        return len(self._addresses)

    def address_at(self, offset: int) -> int | None:
        """In the file's own addresses."""
        for segment in self._segments:
            if segment.offset <= offset < segment.offset + segment.file_bytes:
                return offset - segment.offset + segment.address
        return None

    def name_at(self, address: int) -> str | None:
        """The function that holds an address; None in a gap, for a name near by would be a wrong one."""
        position = bisect.bisect_right(self._addresses, address)
        for index in range(position - 1, max(-1, position - 1 - _LOOKED_BACK), -1):
            size = self._sizes[index]
            if address < self._addresses[index] + size or (not size and index == position - 1):
                return bytes(self._text[self._names[index] : self._names[index + 1]]).decode("utf-8", "replace")
        return None

    def packed(self) -> bytes:
        segments = b"".join(struct.pack("=3Q", part.offset, part.address, part.file_bytes) for part in self._segments)
        columns = b"".join(array("Q", column).tobytes() for column in (self._addresses, self._sizes, self._names))
        return _COUNTS.pack(len(self._segments), len(self)) + segments + columns + bytes(self._text)

    @classmethod
    def unpacked(cls, packed: memoryview) -> SymbolTable:
        """ValueError if this is no packed table. Nothing is copied."""
        try:
            segment_count, count = _COUNTS.unpack_from(packed)
            starts = [_COUNTS.size, _COUNTS.size + 24 * segment_count]
            starts += [starts[1] + 8 * count, starts[1] + 16 * count, starts[1] + 24 * count + 8]
            segments = [Segment(*part) for part in struct.iter_unpack("=3Q", packed[starts[0] : starts[1]])]
            addresses, sizes, names = (packed[a:b].cast("Q") for a, b in zip(starts[1:], starts[2:], strict=False))
        except (struct.error, TypeError) as error:
            raise ValueError(f"not a table of symbols: {error}") from None
        if len(names) != count + 1:
            raise ValueError("a table of symbols that is cut short")
        return cls(segments, addresses, sizes, names, packed[starts[4] :])


def table_of(tables: Iterable[RawSymbols], segments: Sequence[Segment]) -> SymbolTable:
    """Of the function symbols of one file, or of it and its debug file."""
    place_by_address: dict[int, tuple[int, RawSymbols, int]] = {}
    for table in tables:
        for name, information, section, address, size in table.entries():
            if not is_function(information, section):
                continue
            entry = (size | _LOCAL if information >> 4 == 0 else size, table, name)
            known = place_by_address.get(address)
            if known is None or _is_preferred(address, entry, known):
                place_by_address[address] = entry
    return _columns(place_by_address, segments)


def _is_preferred(address: int, one: tuple[int, RawSymbols, int], other: tuple[int, RawSymbols, int]) -> bool:
    return _preference(_symbol(address, one)) < _preference(_symbol(address, other))


def _symbol(address: int, entry: tuple[int, RawSymbols, int]) -> Symbol:
    size, table, name = entry
    return Symbol(address, size & ~_LOCAL, table.name(name).decode("utf-8", "replace"), bool(size & _LOCAL))


def _columns(place_by_address: dict[int, tuple[int, RawSymbols, int]], segments: Sequence[Segment]) -> SymbolTable:
    addresses, sizes, names, text = array("Q", sorted(place_by_address)), array("Q"), array("Q", [0]), bytearray()
    for address in addresses:
        size, table, name = place_by_address[address]
        sizes.append(size & ~_LOCAL)
        text += table.name(name)
        names.append(len(text))
    return SymbolTable(segments, addresses, sizes, names, bytes(text))


def _preference(symbol: Symbol) -> tuple[bool, int, bool, int, str]:
    """Of several names of one function the one that a program calls: `malloc`, not `__libc_malloc`."""
    underscores = 0 if symbol.name.startswith("_Z") else len(symbol.name) - len(symbol.name.lstrip("_"))
    return (symbol.size == 0, underscores, symbol.is_local, len(symbol.name), symbol.name)
