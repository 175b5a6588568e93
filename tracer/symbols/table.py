"""Function symbols of a binary, sorted, to the name at an address; as columns, so that a file of them opens at once."""

from __future__ import annotations

import bisect
import struct
from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tracer.symbols.elf import RawSymbols, Segment, is_function

_LOOKED_BACK = 8  # symbols; a small alias inside a function must not hide it
_COUNTS = struct.Struct("=QQ")  # segments, symbols
_MAX_NAME_BYTES = 65_536  # shown are fewer


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

    @property
    def base(self) -> int:
        """The lowest address that is loaded."""
        return min((segment.address for segment in self._segments), default=0)

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
                return self._name(index)
        return None

    def _name(self, index: int) -> str:
        start, end = self._names[index], self._names[index + 1]
        return bytes(self._text[start : min(end, start + _MAX_NAME_BYTES)]).decode("utf-8", "replace")

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


class _Entry(NamedTuple):
    """A symbol of a table, its name not read yet."""

    size: int
    is_local: bool
    table: RawSymbols
    place: int  # of the name

    @property
    def name(self) -> bytes:
        return self.table.name(self.place)


def table_of(tables: Iterable[RawSymbols], segments: Sequence[Segment]) -> SymbolTable:
    """Of the function symbols of one file, or of it and its debug file."""
    entry_by_address: dict[int, _Entry] = {}
    for table in tables:
        for place, information, section, address, size in table.entries():
            if not is_function(information, section):
                continue
            entry = _Entry(size, information >> 4 == 0, table, place)
            known = entry_by_address.setdefault(address, entry)
            if known is not entry and _is_preferred(entry, known):
                entry_by_address[address] = entry
    return _columns(entry_by_address, segments)


def _columns(entry_by_address: dict[int, _Entry], segments: Sequence[Segment]) -> SymbolTable:
    addresses, sizes, names, text = array("Q", sorted(entry_by_address)), array("Q"), array("Q", [0]), bytearray()
    for address in addresses:
        entry = entry_by_address[address]
        sizes.append(entry.size)
        text += entry.name
        names.append(len(text))
    return SymbolTable(segments, addresses, sizes, names, bytes(text))


def _is_preferred(one: _Entry, other: _Entry) -> bool:
    """Most functions are in both tables of a file: that is seen first."""
    name, known = one.name, other.name
    return name != known and _preference(one, name) < _preference(other, known)


def _preference(entry: _Entry, name: bytes) -> tuple[bool, int, bool, int, bytes]:
    """Of several names of one function the one that a program calls: `malloc`, not `__libc_malloc`."""
    underscores = 0 if name.startswith(b"_Z") else len(name) - len(name.lstrip(b"_"))
    return (entry.size == 0, underscores, entry.is_local, len(name), name)
