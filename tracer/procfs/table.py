"""A table: rows of what was seen when and where, each with one number per column, some of which may be missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tracer.profile.errors import EmptyProfile, LimitExceeded
from tracer.profile.model import MAX_SKIPPED_SHOWN, MAX_SKIPPED_TEXT, SkippedLine

Cell = int | float | str | None
MAX_ROWS = 500_000  # 100 processes, once a second, for more than an hour
MAX_COLUMNS = 200  # a kernel's meminfo has 60


@dataclass(frozen=True, slots=True)
class Column:
    name: str  # the source's own, in lower case
    unit: str  # bytes, pages, faults, faults/s, percent
    kind: Literal["level", "flow"]
    is_additive: bool = False  # whether the rows of a table may be added up: they are parts of one moment


@dataclass(slots=True)
class Table:
    format: str
    keys: tuple[str, ...]  # names of what says which row it is: a time, a pid, a path
    columns: list[Column] = field(default_factory=list)
    rows: list[tuple[tuple[Cell, ...], list[Cell]]] = field(default_factory=list)  # keys, numbers; None is missing
    notes: list[str] = field(default_factory=list)
    skipped: list[SkippedLine] = field(default_factory=list)  # the first few only
    skipped_lines: int = 0

    def add(self, keys: Sequence[Cell], values: Sequence[Cell] = ()) -> list[Cell]:
        """A row; its numbers, in the order of the columns, can be filled in later."""
        numbers = list(values)
        self.rows.append((tuple(keys), numbers))
        if len(self.rows) > MAX_ROWS:
            raise LimitExceeded("number of rows", limit=MAX_ROWS, value=len(self.rows))
        return numbers

    def position(self, column: Column) -> int:
        """Of a column, which is new if none has its name; earlier rows lack it."""
        for place, known in enumerate(self.columns):
            if known.name == column.name:
                return place
        self.columns.append(column)
        if len(self.columns) > MAX_COLUMNS:
            raise LimitExceeded("number of columns", limit=MAX_COLUMNS, value=len(self.columns))
        return len(self.columns) - 1

    def skip(self, number: int, text: str, reason: str) -> None:
        self.skipped_lines += 1
        if len(self.skipped) < MAX_SKIPPED_SHOWN:
            self.skipped.append(SkippedLine(number, text[:MAX_SKIPPED_TEXT], reason))

    def finish(self, empty: str) -> Table:
        """EmptyProfile with those words if there is no row."""
        if not self.rows:
            raise EmptyProfile(empty)
        for _, values in self.rows:
            values += [None] * (len(self.columns) - len(values))
        return self

    def numbers(self, place: int) -> Iterator[int | float]:
        """What a column holds, row by row, without what is missing."""
        for _, values in self.rows:
            if isinstance(found := values[place], int | float):
                yield found
