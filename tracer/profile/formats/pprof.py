"""pprof's protocol buffers, of Go, Rust, Pyroscope or any other writer: the importer.

https://github.com/google/pprof/blob/main/proto/profile.proto
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from tracer.profile.errors import LimitExceeded, MalformedProfile, ProfileError
from tracer.profile.folded import MAX_COLUMNS
from tracer.profile.formats.pprof_tables import Tables
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.unpack import STEP
from tracer.profile.formats.wire import (
    BYTES,
    VARINT,
    Truncated,
    field_at,
    fields,
    numbers,
    signed,
    stream_fields,
    varint,
)
from tracer.profile.model import Profile, ValueType

NAME = "pprof"
TITLE = "pprof"

_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = 1, 2, 3, 4, 5, 6
_TIME, _DURATION, _DEFAULT_TYPE = 9, 10, 14
_WIRE_TYPES = {
    **dict.fromkeys((_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING, 11), (BYTES,)),
    **dict.fromkeys((7, 8, _TIME, _DURATION, 12, _DEFAULT_TYPE, 15), (VARINT,)),
    13: (VARINT, BYTES),  # comments may be packed
}
_LOOKED_AT = 50  # fields
_ENOUGH = 3  # of them that are right before one is broken
_HEAP_MEANINGS = {
    "inuse_space": "Bytes in use when the profile was taken",
    "inuse_objects": "Objects in use when the profile was taken",
    "alloc_space": "Bytes allocated, freed since or not",
    "alloc_objects": "Objects allocated, freed since or not",
}
_LEVELS = ("inuse", "live", "goroutine", "threadcreate")
_UNIT_OF_COUNTS = {"contentions": "calls"}


def matches(head: bytes) -> bool:
    """Whether it begins with fields of this message, as no text does; later ones may be unknown or broken."""
    place = seen = 0
    has_table = False
    try:
        while place < len(head) and seen < _LOOKED_AT:
            key, _ = varint(head, place)
            if key & 7 not in _WIRE_TYPES.get(key >> 3, (key & 7,) if seen else ()):
                return False
            _, place = field_at(head, place, len(head))
            has_table |= key & 7 == BYTES  # a text of the letter x is a row of numbers
            seen += 1
    except (Truncated, LimitExceeded):
        return seen >= _ENOUGH or (seen > 0 and len(head) >= STEP)  # no text has a field of that size
    except ProfileError:
        return seen >= _ENOUGH
    return has_table


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    message = _Message(reading)
    for number, _, value in stream_fields(steps, reading.limits.line_bytes):
        message.take(number, value)
    return message.finish()


class _Message:
    """Samples are kept as numbers until all tables are read: most writers put the names last."""

    def __init__(self, reading: Reading) -> None:
        self._limits, self._resolve = reading.limits, reading.resolve
        self._tables = Tables(reading.limits)
        self._types: list[tuple[int, int]] = []  # name and unit
        self._locations, self._depths, self._values = array("Q"), array("q"), array("q")
        self._scalars: dict[int, int] = {}
        self._scalar_count = 0

    def take(self, number: int, value: int | bytes) -> None:
        if isinstance(value, int):
            self._take_scalar(number, value)
        elif number == _SAMPLE:
            self._take_sample(value)
        elif number == _SAMPLE_TYPE:
            self._take_type(value)
        elif number == _STRING:
            self._tables.add_string(value)
        elif number == _LOCATION:
            self._tables.add_location(value)
        elif number == _FUNCTION:
            self._tables.add_function(value)
        elif number == _MAPPING:
            self._tables.add_mapping(value)

    def finish(self) -> Profile:
        if not self._types:
            raise MalformedProfile("the profile names no sample type")
        if len(self._values) != len(self._depths) * len(self._types):
            raise MalformedProfile(
                f"the samples, {len(self._depths):,}, have {len(self._values):,} values, "
                f"expected {len(self._types)} each"
            )
        order = self._order()
        sums = StackSums([self._value_type(*self._types[place]) for place in order], self._limits)
        self._add_samples(sums, order)
        profile = sums.finish("the profile holds no sample")
        profile.capture = self._capture()
        return profile

    def _take_scalar(self, number: int, value: int) -> None:
        self._scalars[number] = value
        self._scalar_count += 1
        if self._scalar_count > self._limits.lines:
            raise LimitExceeded("number of single fields", limit=self._limits.lines, value=self._scalar_count)

    def _take_sample(self, message: bytes) -> None:
        locations: list[int] = []
        for number, _, value in fields(message):
            if number == 1:
                locations += numbers(value)
            elif number == 2:
                self._values.extend(signed(found) for found in numbers(value))
        if len(locations) > self._limits.stack_frames:
            raise LimitExceeded("number of frames in a stack", limit=self._limits.stack_frames, value=len(locations))
        self._locations.extend(locations)
        self._depths.append(len(locations))
        self._watch()

    def _watch(self) -> None:
        """A packed file can hold very many of what takes it one byte."""
        for what, value, limit in (
            ("number of samples", len(self._depths), self._limits.lines),
            ("number of frames in all stacks", len(self._locations), self._limits.frames),
            ("number of values", len(self._values), MAX_COLUMNS * len(self._depths)),
        ):
            if value > limit:
                raise LimitExceeded(what, limit=limit, value=value)

    def _take_type(self, message: bytes) -> None:
        found = {number: value for number, _, value in fields(message) if isinstance(value, int)}
        self._types.append((found.get(1, 0), found.get(2, 0)))
        if len(self._types) > MAX_COLUMNS:
            raise LimitExceeded("number of sample types", limit=MAX_COLUMNS, value=len(self._types))

    def _order(self) -> list[int]:
        """Sample types, the one first that a reader shows by default: the one that is named, else the last."""
        default = self._tables.text(self._scalars.get(_DEFAULT_TYPE, 0)) if self._tables.strings else ""
        names = [self._tables.text(name) for name, _ in self._types]
        first = names.index(default) if default in names else len(names) - 1
        return [first, *(place for place in range(len(names)) if place != first)]

    def _value_type(self, name_number: int, unit_number: int) -> ValueType:
        """By its name, if we know it: profiles of our own come back as they were."""
        name = self._tables.text(name_number).lower().replace(" ", "_") or "value"
        known = self._resolve(name, None)
        unit = self._tables.text(unit_number) or known.unit
        if unit == "count":
            unit = known.unit if known.unit != name else _UNIT_OF_COUNTS.get(name, name)
        if name in _HEAP_MEANINGS:
            return ValueType(name, unit, "level" if name.startswith("inuse") else "flow", _HEAP_MEANINGS[name])
        return replace(known, unit=unit, kind="level" if name.startswith(_LEVELS) else known.kind)

    def _add_samples(self, sums: StackSums, order: list[int]) -> None:
        names_of: dict[int, list[str]] = {}
        place = 0
        for number, depth in enumerate(self._depths):
            stack: list[str] = []
            for location in reversed(self._locations[place : place + depth]):
                if location not in names_of:
                    names_of[location] = self._tables.names(location)
                stack += names_of[location]
            place += depth
            row = number * len(order)
            sums.add(stack or ["[stack not recorded]"], [self._values[row + column] for column in order])

    def _capture(self) -> dict[str, object]:
        capture: dict[str, object] = {}
        taken_s = signed(self._scalars.get(_TIME, 0)) / 1e9
        if 0 < taken_s < _LAST_SECOND:
            capture["started_at"] = datetime.fromtimestamp(taken_s, UTC).isoformat(timespec="milliseconds")
        if 0 < (duration_s := signed(self._scalars.get(_DURATION, 0)) / 1e9) < _LONGEST_S:
            capture["elapsed_s"] = round(duration_s, 3)
        return capture


_LAST_SECOND = 253_402_300_799  # of the year 9999
_LONGEST_S = 366 * 24 * 3600  # some writers put a moment there
