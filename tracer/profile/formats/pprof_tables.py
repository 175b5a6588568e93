"""Strings, functions, mappings and locations of a pprof profile to the frames of each location."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tracer.profile.errors import LimitExceeded, MalformedProfile
from tracer.profile.formats.wire import fields
from tracer.profile.model import Limits
from tracer.profile.places import MOST_TOLD

_BUILD_ID = re.compile(r"(?:[0-9a-f]{2}){8,64}")

MAX_ENTRIES = 2_000_000  # each takes up to 300 bytes; the largest profile that we saw has 60,000


@dataclass(frozen=True, slots=True)
class Mapping:
    start: int
    end: int
    offset: int
    file: int  # number of a string, as all names are
    build_id: int


@dataclass(frozen=True, slots=True)
class Location:
    mapping: int
    address: int
    functions: tuple[int, ...]  # the one that was compiled into all others first


@dataclass(slots=True)
class Tables:
    """By id, which is no index; 0 is none. What names what may come in any order, so it is looked up at the end."""

    limits: Limits
    strings: list[str] = field(default_factory=list)
    functions: dict[int, tuple[int, int]] = field(default_factory=dict)  # name, name in the system
    mappings: dict[int, Mapping] = field(default_factory=dict)
    locations: dict[int, Location] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)  # by file name, of the files that places are in
    build_ids: dict[str, str] = field(default_factory=dict)

    def add_string(self, raw: bytes) -> None:
        if len(raw) > self.limits.name_bytes:
            raise LimitExceeded("length of a string in bytes", limit=self.limits.name_bytes, value=len(raw))
        self.strings.append(raw.decode("utf-8", "replace"))
        self._watch()

    def add_function(self, message: bytes) -> None:
        numbers = _numbers(message)
        self.functions[numbers.get(1, 0)] = numbers.get(2, 0), numbers.get(3, 0)
        self._watch()

    def add_mapping(self, message: bytes) -> None:
        numbers = _numbers(message)
        span = numbers.get(2, 0), numbers.get(3, 0), numbers.get(4, 0)
        self.mappings[numbers.get(1, 0)] = Mapping(*span, numbers.get(5, 0), numbers.get(6, 0))
        self._watch()

    def _watch(self) -> None:
        count = len(self.strings) + len(self.functions) + len(self.mappings) + len(self.locations)
        if count > MAX_ENTRIES:
            raise LimitExceeded("number of entries of its tables", limit=MAX_ENTRIES, value=count)

    def add_location(self, message: bytes) -> None:
        numbers: dict[int, int] = {}
        functions: list[int] = []
        for number, _, value in fields(message):
            if isinstance(value, int):
                numbers[number] = value
            elif number == 4:
                functions.append(_numbers(value).get(1, 0))
        location = Location(numbers.get(2, 0), numbers.get(3, 0), tuple(functions))
        self.locations[numbers.get(1, 0)] = location
        self._watch()

    def text(self, number: int) -> str:
        if not 0 <= number < len(self.strings):
            raise MalformedProfile(f"a name is string {number:,}, there are {len(self.strings):,}")
        return self.strings[number]

    def names(self, location_id: int) -> list[str]:
        """Outermost first."""
        location = self.locations.get(location_id)
        if location is None:
            raise MalformedProfile(f"a sample names location {location_id:,}, which there is not")
        named = [self._function(number) for number in reversed(location.functions)]
        return [name or self._place(location) for name in named] or [self._place(location)]

    def _function(self, number: int) -> str:
        if number == 0:
            return ""
        if number not in self.functions:
            raise MalformedProfile(f"a location names function {number:,}, which there is not")
        name, system_name = self.functions[number]
        return self.text(name) or self.text(system_name)

    def _place(self, location: Location) -> str:
        """File and offset in it, of a location without a name."""
        mapping = self.mappings.get(location.mapping)
        file = self.text(mapping.file).rpartition("/")[2] if mapping else ""
        if not mapping or not file or not mapping.start <= location.address < mapping.end:
            return f"{location.address:#x}" if location.address or not file else f"[{file}]"
        self._tell(file, mapping)
        return f"{file}+{location.address - mapping.start + mapping.offset:#x}"

    def _tell(self, file: str, mapping: Mapping) -> None:
        """Go writes an id of its own here, which no other tool knows."""
        if len(self.paths) >= MOST_TOLD and file not in self.paths:
            return
        self.paths[file] = self.text(mapping.file)
        build_id = self.text(mapping.build_id).lower()
        if _BUILD_ID.fullmatch(build_id):
            self.build_ids[file] = build_id


def _numbers(message: bytes) -> dict[int, int]:
    """Fields of a message that are numbers; of one that occurs twice the last, as all readers do."""
    return {number: value for number, _, value in fields(message) if isinstance(value, int)}
