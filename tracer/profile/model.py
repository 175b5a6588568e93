"""A profile: stacks, root first, each with one number per value type, and how complete the capture was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A bad line of a readable file: its 1-based number, the first 200 characters of its text, and what was wrong."""

    number: int
    text: str
    reason: str


@dataclass(slots=True)
class Profile:
    """Stacks of one moment or interval; a stack occurs once, its values are in the order of `value_types`."""

    value_types: tuple[ValueType, ...]
    values_by_stack: dict[Stack, list[Number]] = field(default_factory=dict)
    skipped: list[SkippedLine] = field(default_factory=list)  # the first MAX_SKIPPED_SHOWN only
    skipped_lines: int = 0
    capture: Mapping[str, object] = field(default_factory=dict)  # see protocol.CAPTURE_KEYS

    def add(self, stack: Sequence[str], values: Sequence[Number]) -> None:
        """Add values to a stack; the same stack again adds up."""
        key = tuple(stack)
        old = self.values_by_stack.get(key)
        if old is None:
            self.values_by_stack[key] = list(values)
        else:
            for column, value in enumerate(values):
                old[column] += value

    def rows(self) -> Iterator[tuple[Stack, list[Number]]]:
        return iter(self.values_by_stack.items())

    def total(self, column: int = 0) -> Number:
        return sum(values[column] for values in self.values_by_stack.values())

    def column(self, value_type: str) -> int:
        """Position of a value type by name; KeyError names those that there are."""
        for position, known in enumerate(self.value_types):
            if known.name == value_type:
                return position
        raise KeyError(f"no value type {value_type!r}, there is {', '.join(v.name for v in self.value_types)}")


MAX_SKIPPED_SHOWN = 20
