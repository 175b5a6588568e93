"""Stacks that an importer has read to a profile, added up within the limits."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from dataclasses import replace

from tracer.profile.errors import EmptyProfile, LimitExceeded, MalformedProfile
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
        self._amounts: list[Number] = [0] * len(value_types)  # of |value|: no sum of some of them can be larger
        self._signed = [known.is_signed for known in value_types]
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
        frames = len(key) // _ID_BYTES
        if frames > self._limits.stack_frames:
            what = "number of frames in a stack"
            raise LimitExceeded(what, limit=self._limits.stack_frames, value=frames, line=line)
        for place, value in enumerate(values):
            self._watch(place, value, line)
        if self.profile.add_key(key, values):
            self._watch_frames(frames, line)

    def add_column(self, value_type: ValueType) -> int:
        """Position of a further value type, 0 for all stacks until now."""
        profile = self.profile
        profile.columns.append(array("d" if value_type.is_float else "q", [0] * profile.stack_count))
        profile.value_types = (*profile.value_types, value_type)
        self._amounts.append(0)
        self._signed.append(value_type.is_signed)
        if len(profile.columns) > MAX_COLUMNS:
            raise LimitExceeded("number of value types", limit=MAX_COLUMNS, value=len(profile.columns))
        return len(profile.columns) - 1

    def add_to(self, column: int, stack: Sequence[str], value: Number, line: int | None = None) -> None:
        """Add to one of several value types."""
        values: list[Number] = [0] * len(self._amounts)
        values[column] = value
        self.add(stack, values, line)

    def finish(self, empty: str = "the file holds no stack") -> Profile:
        """EmptyProfile with those words if there was no stack at all."""
        profile = self.profile
        if self.is_empty:
            skipped = f"; {profile.skipped_lines:,} lines were skipped" if profile.skipped_lines else ""
            raise EmptyProfile(f"{empty}{skipped}")
        profile.value_types = tuple(
            replace(known, is_signed=signed) for known, signed in zip(profile.value_types, self._signed, strict=True)
        )
        return profile

    def _watch(self, place: int, value: Number, line: int | None) -> None:
        if value < 0:
            self._signed[place] = True
        if self.profile.columns[place].typecode == "q":
            self._amounts[place] += abs(value)
            if (amount := self._amounts[place]) > MAX_VALUE:
                what = f"sum of {self.profile.value_types[place].name}"
                raise LimitExceeded(what, limit=MAX_VALUE, value=int(amount), line=line)
        elif not _is_finite(value) or not _is_finite(self._amounts[place] + abs(float(value))):
            raise MalformedProfile(f"{f'line {line}: ' if line else ''}the values are too large to be added up")
        else:
            self._amounts[place] += abs(float(value))

    def _watch_frames(self, count: int, line: int | None) -> None:
        self._frames += count
        if self._frames > self._limits.frames:
            what = "number of frames in all stacks"
            raise LimitExceeded(what, limit=self._limits.frames, value=self._frames, line=line)


def _is_finite(value: Number) -> bool:
    """Also of a whole number too large for a float, which math.isfinite does not take."""
    return -_MAX_FLOAT <= value <= _MAX_FLOAT
