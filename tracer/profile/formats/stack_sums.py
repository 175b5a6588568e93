"""Stacks that an importer has read to a profile, added up within the limits."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tracer.profile.errors import EmptyProfile, LimitExceeded, MalformedProfile, ProfileError
from tracer.profile.folded import MAX_COLUMNS
from tracer.profile.model import MAX_VALUE, Limits, Number, Profile, ValueType

_MAX_FLOAT = sys.float_info.max
_ID_BYTES = array("i").itemsize


class _FrameKeys(dict[str, bytes]):
    """The bytes of a frame's id by its name: a known one costs one look-up in C."""

    def __init__(self, profile: Profile, limit: int) -> None:
        self._profile, self._limit = profile, limit

    def __missing__(self, name: str) -> bytes:
        size = len(name) if name.isascii() else len(name.encode("utf-8", "surrogatepass"))
        if size > self._limit:
            raise LimitExceeded("length of a frame's name in bytes", limit=self._limit, value=size)
        key = self[name] = array("i", [self._profile.id_of(name.replace("\0", "\ufffd"))]).tobytes()
        return key


class StackSums:
    """One stack after the other, root first; the same one again adds up."""

    def __init__(self, value_types: Sequence[ValueType], limits: Limits) -> None:
        self.profile = Profile(tuple(value_types))
        self._limits = limits
        self._frames = 0
        self._keys = _FrameKeys(self.profile, limits.name_bytes)

    @property
    def is_empty(self) -> bool:
        return not self.profile.row_by_key

    def add(self, stack: Sequence[str], values: Sequence[Number], line: int | None = None) -> None:
        """A stack needs a frame; `line` is what an error names."""
        self.add_key(self.key(stack, line), values, line)

    def key(self, stack: Sequence[str], line: int | None = None) -> bytes:
        """The ids of these frames."""
        try:
            return b"".join(map(self._keys.__getitem__, stack))
        except LimitExceeded as error:
            raise LimitExceeded(error.what, limit=error.limit, value=error.value, line=line) from None

    def add_key(self, key: bytes, values: Sequence[Number], line: int | None = None) -> None:
        try:
            is_new = self.profile.add_key(key, values)
        except OverflowError:  # as the column's own numbers are
            raise self._too_large(key, values, line) from None
        if is_new:
            self._watch_frames(len(key) // _ID_BYTES, line)

    def add_column(self, value_type: ValueType) -> int:
        """Position of a further value type, 0 for all stacks until now."""
        profile = self.profile
        profile.columns.append(array("d" if value_type.is_float else "q", [0] * profile.stack_count))
        profile.value_types = (*profile.value_types, value_type)
        if len(profile.columns) > MAX_COLUMNS:
            raise LimitExceeded("number of value types", limit=MAX_COLUMNS, value=len(profile.columns))
        return len(profile.columns) - 1

    def add_to(self, column: int, stack: Sequence[str], value: Number, line: int | None = None) -> None:
        """Add to one of several value types."""
        values: list[Number] = [0] * len(self.profile.columns)
        values[column] = value
        self.add(stack, values, line)

    def finish(self, empty: str = "the file holds no stack") -> Profile:
        """EmptyProfile with those words if there was no stack at all."""
        profile = self.profile
        if self.is_empty:
            skipped = f"; {profile.skipped_lines:,} lines were skipped" if profile.skipped_lines else ""
            raise EmptyProfile(f"{empty}{skipped}")
        profile.value_types = tuple(map(self._seen, profile.value_types, profile.columns))
        return profile

    def _seen(self, known: ValueType, column: array[Any]) -> ValueType:
        """With its sign. No sum of some values can be larger than that of all without their signs."""
        amount = sum(map(abs, column))
        if not amount <= (_MAX_FLOAT if known.is_float else MAX_VALUE):
            raise self._too_large_sum(known, amount)
        return replace(known, is_signed=known.is_signed or min(column) < 0)

    def _too_large(self, key: bytes, values: Sequence[Number], line: int | None) -> ProfileError:
        """What the values of this stack would be, the last of which may not be there yet."""
        profile, row = self.profile, self.profile.row_by_key[key]
        before = [column[row] if row < len(column) else 0 for column in profile.columns]
        amounts = [abs(value + held) for value, held in zip(values, before, strict=True)]
        largest = max(range(len(amounts)), key=amounts.__getitem__)
        return self._too_large_sum(profile.value_types[largest], amounts[largest], line)

    def _too_large_sum(self, known: ValueType, amount: Number, line: int | None = None) -> ProfileError:
        if known.is_float:
            return MalformedProfile(f"{f'line {line}: ' if line else ''}the values are too large to be added up")
        return LimitExceeded(f"sum of {known.name}", limit=MAX_VALUE, value=int(amount), line=line)

    def _watch_frames(self, count: int, line: int | None) -> None:
        self._frames += count
        if count > (limit := self._limits.stack_frames):
            raise LimitExceeded("number of frames in a stack", limit=limit, value=count, line=line)
        if self._frames > (limit := self._limits.frames):
            raise LimitExceeded("number of frames in all stacks", limit=limit, value=self._frames, line=line)
