"""jemalloc heap profiles to bytes and objects in use, and allocated where they are counted: the importer.

https://jemalloc.net/jemalloc.3.html, prof.dump

heap_v2/524288
  t*: 103: 30181631 [0: 0]
@ 0x7f94c3aa2630 0x565508b2ed8e 0x565508b2e3c4
  t*: 10: 3276800 [0: 0]
  t0: 10: 3276800 [0: 0]

MAPPED_LIBRARIES:
565508b2d000-565508b30000 r-xp 00001000 08:02 173521 /usr/bin/search-api
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.profile.errors import MalformedProfile
from tracer.profile.formats.heap_text import ALLOCATED, INUSE, AddressSums, rate_facts, sampled_types, unsampled
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.text import head_text, read_by_line
from tracer.profile.model import Number, Profile

NAME = "jemalloc"
TITLE = "jemalloc heap profile"

_HEADER = re.compile(r"heap(?:_v2)?(?:/(\S+))?\s*")
_STACK = "@ 0x"
_COUNTS = re.compile(r"\s*t\*: (-?\d+): (-?\d+)(?: \[(-?\d+): (-?\d+)\])?.*")
_THREAD = re.compile(r"\s*t\d+: .*")  # the same numbers again, by thread
_SYMBOL = re.compile(r"(0x[0-9a-f]+) (.+)")
_SECTION = re.compile(r"--- ?(?:symbol|heap)\s*|---\s*|binary=.*")


def matches(head: bytes) -> bool:
    lines = head_text(head).split("\n", 2)
    is_raw = lines[0].startswith("--- symbol")  # of jeprof --raw
    return is_raw or (len(lines) > 1 and _HEADER.fullmatch(lines[0]) is not None and "t*:" in lines[1])


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    return read_by_line(_Text(reading), steps, reading.limits)


class _Text:
    def __init__(self, reading: Reading) -> None:
        self._limits = reading.limits
        self._rate: int | None = None
        self._header = ""
        self._has_accumulated = False
        self._names: dict[int, list[str]] = {}
        self._sums: AddressSums | None = None  # from the first stack on
        self._open: tuple[int, bytes] | None = None  # line, key of the stack
        self._is_maps = False

    def take(self, number: int, line: str) -> None:
        if self._is_maps:
            self._take_library(number, line)
        elif line.startswith(_STACK):
            self._begin(number, line)
        elif line.lstrip().startswith("t*:") and (counts := _COUNTS.fullmatch(line)):
            self._take_counts(number, counts)
        elif line.startswith("MAPPED_LIBRARIES:"):
            self._end()
            self._is_maps = True
        elif not self._take_preface(line) and line.strip() and not _THREAD.fullmatch(line):
            self._skip(number, line, "it is of no stack")

    def finish(self) -> Profile:
        self._end()
        sums = self._sums or self._new_sums()
        sums.names_by_address = self._names
        profile = sums.finish()
        if self._rate is None:
            about = f"The header {self._header[:80]!r} names no rate"
            profile.capture = {
                **profile.capture,
                "is_unscaled": True,
                "notes": [f"{about}: these are the sampled sizes, not estimates of all."],
            }
        profile.capture = {**profile.capture, **rate_facts(self._rate or 0)}
        return profile

    def _begin(self, number: int, line: str) -> None:
        self._sums = self._sums or self._new_sums()
        self._end()
        try:
            self._open = number, self._sums.key(line[1:])
        except ValueError:
            self._skip(number, line, "it is of no stack")

    def _end(self) -> None:
        if self._open is not None:
            self._skip(self._open[0], "@", "a stack without its counts")
        self._open = None

    def _take_preface(self, line: str) -> bool:
        """The rate, and the symbols that jeprof writes before it."""
        if self._sums is not None:
            return False
        if symbol := _SYMBOL.fullmatch(line):
            # Innermost first, as they were compiled into each other.
            self._names[int(symbol[1], 16)] = symbol[2].split("--")[::-1]
            return True
        if header := _HEADER.fullmatch(line):
            self._header = line.strip()
            self._rate = int(header[1]) if header[1] and header[1].isdigit() else None
            return True
        return _SECTION.fullmatch(line) is not None

    def _take_counts(self, number: int, counts: re.Match[str]) -> None:
        """The summary before the first stack is no total: each line is passed through a correction of its own."""
        objects, size, all_objects, all_size = (int(text or 0) for text in counts.groups())
        if self._sums is None:
            self._has_accumulated = all_objects != 0
            return
        if self._open is None:
            self._skip(number, counts[0], "it is of no stack")
            return
        line, key = self._open
        values: list[Number] = [*unsampled(size, objects, self._rate or 0)]
        if self._has_accumulated:
            values += unsampled(all_size, all_objects, self._rate or 0)
        self._sums.add(key, values, line)
        self._open = None

    def _take_library(self, number: int, line: str) -> None:
        sums = self._sums = self._sums or self._new_sums()
        if line.strip() and not sums.libraries.take(line):
            self._skip(number, line, "it is no line of mapped libraries")

    def _new_sums(self) -> AddressSums:
        if not self._header:
            raise MalformedProfile("the profile does not say at which rate it was sampled: it begins with no heap_v2/…")
        types = (*INUSE, *ALLOCATED) if self._has_accumulated else INUSE
        return AddressSums(sampled_types(types, self._rate or 0), self._limits)

    def _skip(self, number: int, line: str, reason: str) -> None:
        self._sums = self._sums or self._new_sums()
        self._sums.profile.skip(number, line, reason)
