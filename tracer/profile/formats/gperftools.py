"""Heap profiles of gperftools and tcmalloc, as text, to bytes and objects in use and allocated: the importer.

https://gperftools.github.io/gperftools/heapprofile.html

heap profile:   8066: 19949536 [  8079: 20015064] @ heapprofile
    65: 19500000 [    65: 19500000] @ 0x55d5826d6d8e 0x55d5826d63c4 0x7f72b084524a

MAPPED_LIBRARIES:
55d5826d5000-55d5826d8000 r-xp 00001000 08:02 173521 /usr/bin/search-api
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from tracer.profile.errors import MalformedProfile
from tracer.profile.formats.heap_text import ALLOCATED, INUSE, AddressSums, rate_facts, sampled_types, unsampled
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.text import head_text, numbered_lines
from tracer.profile.formats.unpack import head_of
from tracer.profile.model import Number, Profile, ValueType

NAME = "gperftools"
TITLE = "gperftools heap profile"

_PAIR = r"\s*(-?\d+):\s*(-?\d+)"
_COUNTS = re.compile(rf"{_PAIR}(?:\s*\[{_PAIR}\])? ")
_HEADER = re.compile(rf"heap profile:{_PAIR}(?:\s*\[{_PAIR}\])?(?: @\s*(\w+)?(?:/(\d+))?)?\s*")
_RELATIVES = re.compile(r"--- (?:heapz|contentionz|growthz|threadz) \d+ ---|(?:goroutine|threadcreate) profile: total")
# Its profiles of the processor's time begin with the words 0, 3, 0 in the order and size of the machine.
_CPU_HEADS = tuple(struct.pack(f"{form}3{word}", 0, 3, 0) for form in "<>" for word in "QI")
_SECTIONS = ("MAPPED_LIBRARIES:", "--- Memory map:", "--- Memory map: ---")
_VARIABLE = re.compile(r"(\w+)=(\S*)")
_GROWTH = (
    ValueType("growth_bytes", "bytes", "flow", "Bytes by which the heap grew"),
    ValueType("growth_objects", "objects", "flow", "Times that the heap grew"),
)


def matches(head: bytes) -> bool:
    text = head_text(head)
    return text.startswith("heap profile:") or _RELATIVES.match(text) is not None or head.startswith(_CPU_HEADS)


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    head, steps = head_of(steps)
    if head.startswith(_CPU_HEADS):
        raise MalformedProfile(
            "this is a profile of the processor's time: of this family only profiles of the heap are read"
        )
    lines = numbered_lines(steps, reading.limits)
    _, first = next(lines)
    text = _Text(_header(first), reading)
    for number, line in lines:
        text.take(number, line)
    return text.finish()


def _header(line: str) -> re.Match[str]:
    header = _HEADER.fullmatch(line)
    if header is None:
        raise MalformedProfile(f"line 1 is {line[:80]!r}: of this family only profiles of the heap are read")
    return header


class _Text:
    def __init__(self, header: re.Match[str], reading: Reading) -> None:
        objects, size, all_objects, all_size, kind, rate = header.groups()
        self._kind = kind or ""
        self._rate = _rate(self._kind, int(rate or 0))
        # Without counts of its own, the second pair is empty or repeats the first.
        self._has_allocated = bool(int(all_objects or 0)) and (objects, size) != (all_objects, all_size)
        self._sums = AddressSums(sampled_types(self._types(), self._rate), reading.limits)
        self._is_maps = False
        self._paths: dict[str, str] = {}

    def take(self, number: int, line: str) -> None:
        if line.strip() in _SECTIONS:
            self._is_maps = True
        elif self._is_maps:
            self._take_library(number, line)
        elif line.strip() and not self._take_row(number, line):
            self._sums.profile.skip(number, line, "it is no row of the profile")

    def finish(self) -> Profile:
        profile = self._sums.finish()
        profile.capture = {**profile.capture, **rate_facts(self._rate)}
        return profile

    def _take_library(self, number: int, line: str) -> None:
        """Lines of maps; in some files, `name=text` names the start of their paths."""
        if variable := _VARIABLE.fullmatch(line.strip()):
            self._paths[f"${variable[1]}"] = variable[2]
            return
        for name, text in self._paths.items():
            line = line.replace(name, text)
        if line.strip() and not self._sums.libraries.take(line):
            self._sums.profile.skip(number, line, "it is no line of mapped libraries")

    def _types(self) -> tuple[ValueType, ...]:
        if self._kind.startswith("growth"):
            return _GROWTH
        return (*INUSE, *ALLOCATED) if self._has_allocated else INUSE

    def _take_row(self, number: int, line: str) -> bool:
        """Whether it was one."""
        before, _, addresses = line.partition("@ ")
        counts = _COUNTS.fullmatch(before)
        if counts is None or not addresses.strip():
            return False
        try:
            key = self._sums.key(addresses)
        except ValueError:
            return False
        objects, size, all_objects, all_size = (int(text or 0) for text in counts.groups())
        values: list[Number] = [*unsampled(size, objects, self._rate)]
        if self._has_allocated and not self._kind.startswith("growth"):
            values += unsampled(all_size, all_objects, self._rate)
        self._sums.add(key, values, number)
        return True


def _rate(kind: str, rate: int) -> int:
    """Mean bytes between samples; 0 where all was counted. Version 1 wrote the double of it."""
    if kind in ("heap_v2", "heapz_v2"):
        return rate
    return rate // 2 if kind in ("heap", "heapz") else 0
