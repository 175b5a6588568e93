"""pprof's protocol buffers, of Go, Rust, Pyroscope or any other writer: the importer.

https://github.com/google/pprof/blob/main/proto/profile.proto
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import repeat

from tracer.profile.errors import LimitExceeded, MalformedProfile, ProfileError
from tracer.profile.folded import MAX_COLUMNS
from tracer.profile.formats.pprof_labels import LabelSets
from tracer.profile.formats.pprof_samples import Samples
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
    signed,
    stream_fields,
    varint,
)
from tracer.profile.model import Profile, ValueType

NAME = "pprof"
TITLE = "pprof"

_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING = 1, 2, 3, 4, 5, 6
_TIME, _DURATION, _PERIOD_TYPE, _PERIOD, _DEFAULT_TYPE = 9, 10, 11, 12, 14
_WIRE_TYPES = {
    **dict.fromkeys((_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _STRING, _PERIOD_TYPE), (BYTES,)),
    **dict.fromkeys((7, 8, _TIME, _DURATION, _PERIOD, _DEFAULT_TYPE, 15), (VARINT,)),
    13: (VARINT, BYTES),  # comments may be packed
}
_LOOKED_AT = 50  # fields
_ENOUGH = 3  # of them that are right before one is broken
HEAP_VALUE_TYPES = {
    known.name: known
    for known in (
        ValueType("inuse_space", "bytes", "level", "Bytes in use when the profile was taken"),
        ValueType("inuse_objects", "objects", "level", "Objects in use when the profile was taken"),
        ValueType("alloc_space", "bytes", "flow", "Bytes allocated, freed since or not"),
        ValueType("alloc_objects", "objects", "flow", "Objects allocated, freed since or not"),
    )
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
        self._period_type = (0, 0)  # the same
        self._samples = Samples(reading.limits)
        self._scalars: dict[int, int] = {}
        self._wanted = reading.labels
        self._labels = LabelSets(reading.limits) if reading.labels else None
        self._scalar_count = 0

    def take(self, number: int, value: int | bytes) -> None:
        if isinstance(value, int):
            self._take_scalar(number, value)
        elif number == _SAMPLE:
            labels = self._samples.take(value)
            if self._labels is not None:
                self._labels.add(labels)
        elif number == _SAMPLE_TYPE:
            self._take_type(value)
        elif number == _PERIOD_TYPE:
            self._period_type = _name_and_unit(value)
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
        self._samples.unpack()
        if wrong := self._samples.widths - {len(self._types)}:
            raise MalformedProfile(f"a sample has {min(wrong)} values, there are {len(self._types)} sample types")
        order = self._order()
        sums = StackSums([self._value_type(*self._types[place]) for place in order], self._limits)
        self._add_samples(sums, order)
        profile = sums.finish(self._empty())
        profile.capture = self._capture()
        return profile

    def _take_scalar(self, number: int, value: int) -> None:
        self._scalars[number] = value
        self._scalar_count += 1
        if self._scalar_count > self._limits.lines:
            raise LimitExceeded("number of single fields", limit=self._limits.lines, value=self._scalar_count)

    def _take_type(self, message: bytes) -> None:
        self._types.append(_name_and_unit(message))
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
        if name in HEAP_VALUE_TYPES:
            return replace(HEAP_VALUE_TYPES[name], unit=unit)
        return replace(known, unit=unit, kind="level" if name.startswith(_LEVELS) else known.kind)

    def _add_samples(self, sums: StackSums, order: list[int]) -> None:
        not_recorded = sums.key(["[stack not recorded]"])
        rows = self._samples.rows(lambda location: sums.key(self._tables.names(location)), len(order))
        for (key, values), is_wanted in zip(rows, self._picks(), strict=False):
            if is_wanted:
                sums.add_key(key or not_recorded, [values[column] for column in order])

    def _picks(self) -> Iterable[bool]:
        """Whether each sample has the labels that were asked for."""
        if self._labels is None:
            return repeat(True)
        return self._labels.matching(self._tables, self._wanted)

    def _empty(self) -> str:
        return f"no sample has {self._asked()}" if self._wanted else "the profile holds no sample"

    def _asked(self) -> str:
        return " and ".join(f"{key}={' or '.join(values)}" for key, values in self._wanted.items())

    def _notes(self) -> list[str]:
        notes = [f"Only samples with {self._asked()}."] if self._wanted else []
        depths = self._samples.depths
        deepest = max(depths, default=0)
        if deepest in _CUT_DEPTHS:
            cut = f"Samples of {deepest} frames, the most that there are: {depths[deepest]:,}."
            notes.append(f"{cut} Go cuts stacks there, so the roots of these may be missing.")
        return notes

    def _capture(self) -> dict[str, object]:
        told = {"notes": self._notes(), "modules": self._tables.paths, "build_ids": self._tables.build_ids}
        capture: dict[str, object] = {key: found for key, found in told.items() if found}
        taken_s = signed(self._scalars.get(_TIME, 0)) / 1e9
        if 0 < taken_s < _LAST_SECOND:
            capture["started_at"] = datetime.fromtimestamp(taken_s, UTC).isoformat(timespec="milliseconds")
        if 0 < (duration_s := signed(self._scalars.get(_DURATION, 0)) / 1e9) < _LONGEST_S:
            capture["elapsed_s"] = round(duration_s, 3)
        if (period := self._scalars.get(_PERIOD, 0)) > 0:
            what, unit = (self._tables.text(text) for text in self._period_type)
            capture["sample_period"] = [period, unit, what]
        return capture


def _name_and_unit(message: bytes) -> tuple[int, int]:
    """Numbers of their texts."""
    found = {number: value for number, _, value in fields(message) if isinstance(value, int)}
    return found.get(1, 0), found.get(2, 0)


_CUT_DEPTHS = (64, 128)  # of Go's profiles until 1.22 and since
_LAST_SECOND = 253_402_300_799  # of the year 9999
_LONGEST_S = 366 * 24 * 3600  # some writers put a moment there
