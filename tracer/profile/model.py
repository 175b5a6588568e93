"""A profile: stacks, root first, each with one number per value type, and how complete the capture was."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["level", "flow"]
Number = int | float
Stack = tuple[str, ...]
"""Frame names, root first."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """What a number is: `meaning` is one sentence a person can read, without the moment or the interval."""

    name: str
    unit: str  # bytes, objects, calls, pages, faults, or an import's own word
    kind: Kind
    meaning: str
    is_signed: bool = False
    is_float: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may hold (DESIGN.md 4.7); the site takes its own from settings."""

    inflated_bytes: int = 1 << 30
    line_bytes: int = 16 << 20
    stack_frames: int = 65_536
    name_bytes: int = 64 << 10
    lines: int = 5_000_000
    tree_nodes: int = 4_000_000
    frames: int = 128 << 20  # of all distinct stacks together: 4 bytes each while a file is read
    moments: int = 2_000  # points in time, each of which becomes a snapshot


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A skipped line of a readable file: its 1-based number, the first 200 characters of its text, and why."""

    number: int
    text: str
    reason: str


@dataclass(slots=True)
class Profile:
    """Stacks of one moment or interval; a stack occurs once, its values are in the order of `value_types`.

    Inside, a stack is the bytes of its frames' ids: a million stacks of 40 frames take 0.3 GB, as tuples 0.6 GB.
    """

    value_types: tuple[ValueType, ...]
    skipped: list[SkippedLine] = field(default_factory=list)  # the first MAX_SKIPPED_SHOWN only
    skipped_lines: int = 0
    capture: Mapping[str, object] = field(default_factory=dict)  # see protocol.CAPTURE_KEYS
    format: str = ""  # name of the importer that read it
    names: list[str] = field(init=False, default_factory=list)  # by id
    columns: list[array[Any]] = field(init=False)  # one per value type, by row: int64 or float64
    row_by_key: dict[bytes, int] = field(init=False, default_factory=dict)
    _id_by_name: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.columns = [array("d" if known.is_float else "q") for known in self.value_types]

    def add(self, stack: Sequence[str], values: Sequence[Number]) -> None:
        """Add values to a stack; the same stack again adds up. ValueError: an empty stack, or a NUL in a name."""
        if not stack:
            raise ValueError("a stack needs at least one frame")
        self.add_key(array("i", map(self.id_of, stack)).tobytes(), values)

    def add_key(self, key: bytes, values: Sequence[Number]) -> bool:
        """Add values to the stack whose frame ids, as C ints, are these bytes; whether it is a new one."""
        row = self.row_by_key.get(key)
        if row is None:
            self.row_by_key[key] = len(self.row_by_key)
            for column, value in zip(self.columns, values, strict=True):
                column.append(value)
            return True
        for column, value in zip(self.columns, values, strict=True):
            column[row] += value
        return False

    def id_of(self, name: str) -> int:
        """The id of a frame name, given out in order of appearance."""
        known = self._id_by_name.get(name)
        return self._new_id(name) if known is None else known

    def _new_id(self, name: str) -> int:
        if "\0" in name:
            raise ValueError(f"frame name {name[:80]!r} holds a NUL")
        # File names on Linux are bytes: what is not UTF-8 arrives as lone surrogates, which no text file can hold.
        text = name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        number = self._id_by_name.get(text)
        if number is None:
            number = len(self.names)
            self.names.append(text)
            self._id_by_name[text] = number
        self._id_by_name[name] = number
        return number

    @property
    def stack_count(self) -> int:
        return len(self.row_by_key)

    def rows(self) -> Iterator[tuple[Stack, list[Number]]]:
        """Each stack once, in order of appearance."""
        names = self.names
        for key, row in self.row_by_key.items():
            yield tuple([names[number] for number in array("i", key)]), [column[row] for column in self.columns]

    @property
    def values_by_stack(self) -> dict[Stack, list[Number]]:
        """A copy, for small profiles and tests."""
        return dict(self.rows())

    def total(self, column: int = 0) -> Number:
        values = self.columns[column]
        return math.fsum(values) if values.typecode == "d" else sum(values)

    def stacks_with(self, column: int) -> int:
        """How many stacks have a value there; one that has none anywhere counts for each value type."""
        if len(self.columns) == 1:
            return self.stack_count
        return sum(bool(values[column]) or not any(values) for values in zip(*self.columns, strict=True))

    def column(self, value_type: str) -> int:
        """Position of a value type by name; KeyError names those that there are."""
        for position, known in enumerate(self.value_types):
            if known.name == value_type:
                return position
        raise KeyError(f"no value type {value_type!r}, there is {', '.join(v.name for v in self.value_types)}")

    def only(self, column: int) -> Profile:
        """The same stacks with one of the value types."""
        picked = Profile((self.value_types[column],), capture=self.capture, format=self.format)
        picked.skipped, picked.skipped_lines = self.skipped, self.skipped_lines
        picked.names, picked.row_by_key, picked.columns = self.names, self.row_by_key, [self.columns[column]]
        return picked

    def skip(self, number: int, text: str, reason: str) -> None:
        """Count a skipped line; the first few are kept to be shown."""
        self.skipped_lines += 1
        if len(self.skipped) < MAX_SKIPPED_SHOWN:
            self.skipped.append(SkippedLine(number, text[:MAX_SKIPPED_TEXT], reason))

    def skip_also(self, other: Profile) -> None:
        """Count what was skipped in a later part of the same file."""
        self.skipped_lines += other.skipped_lines
        self.skipped.extend(other.skipped[: MAX_SKIPPED_SHOWN - len(self.skipped)])


MAX_SKIPPED_SHOWN = 20
MAX_SKIPPED_TEXT = 200
MAX_VALUE = (1 << 63) - 1  # values and their sums are int64 wherever they are stored
