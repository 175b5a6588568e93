"""A heaptrack recording, replayed to what each stack allocated, held at the peak and never freed: the importer.

https://github.com/KDE/heaptrack, as `heaptrack --interpret` writes it; numbers are hexadecimal.

v 10400 3
X ./search-api
s 4 main
i 55e228b933b8 1 1 1 20
t 1 0
a 30 1
+ 0
c 1a
- 0
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tracer.profile.errors import LimitExceeded, MalformedProfile
from tracer.profile.formats.heaptrack_events import Lines, Numbers, OldEvents, Replay
from tracer.profile.formats.heaptrack_trace import TraceTable
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text, numbered_blocks
from tracer.profile.model import MAX_VALUE, Limits, Profile, ValueType

NAME = "heaptrack"
TITLE = "heaptrack"

_VERSION = re.compile(r"v [0-9a-f]+(?: [0-9a-f]+)?\s*\n")
_FILE_WITH_LENGTHS = 3  # before each string
_RAW = ("x", "m")  # addresses as they were recorded
_NOT_NEEDED = b"cRIS#"  # time, resident pages, size of a page, suppressions, comments
_WRONG_NUMBERS = "its numbers are not those of such a line"
_VALUE_TYPES = (
    ValueType("allocations", "calls", "flow", "Calls that allocated"),
    ValueType("temporary", "calls", "flow", "Allocations that were freed before the next one"),
    ValueType("peak_bytes", "bytes", "level", "Bytes held when the program held most"),
    ValueType("leaked_bytes", "bytes", "level", "Bytes not freed when the recording ended, suppressed ones as well"),
)


def matches(head: bytes) -> bool:
    return _VERSION.match(head_text(head)) is not None


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    recording = _Recording(reading.limits)
    for number, block in numbered_blocks(steps, reading.limits):
        recording.take(number, block)
    return recording.finish()


class _Recording:
    """Nearly all lines are events; the others tell what the numbers of events mean."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._table, self._replay, self._sums = TraceTable(), Replay(), StackSums(_VALUE_TYPES, limits)
        self._traces = 1
        self._sizes, self._traces_of = array("q"), array("q")  # by number of an allocation
        self._old = OldEvents(self._describe)
        self._version: int | None = None  # of the file
        self._capture: dict[str, object] = {}
        self._take: dict[str, Callable[[Sequence[str]], None]] = {
            "t": self._take_trace, "a": self._take_description, "i": self._take_instruction,
            "+": self._old.allocate, "-": self._old.free,
        }  # fmt: skip

    def take(self, number: int, block: bytes) -> None:
        if self._version is None:
            self._version = _file_version(block)
        lines, start = Lines(block, has_events=self._version > 0), 0
        for place, line in lines.others(_NOT_NEEDED):
            if line.startswith("A"):
                self._replay, start = Replay(), place
                self._old.forget_counts()
            else:
                self._take_line(number + place, line)
        self._take_events(number, lines, start)

    def finish(self) -> Profile:
        self._replay.settle(self._all_sizes())
        for trace, values in self._rows():
            self._sums.add(self._table.stack(trace) or ["[stack not recorded]"], values)
        profile = self._sums.finish("the recording holds no allocation")
        profile.capture = self._capture
        return profile

    def _take_events(self, number: int, lines: Lines, start: int) -> None:
        places, numbers, is_free = lines.events() if self._version else self._old.events()
        if start:
            numbers, is_free, places = (column[places > start] for column in (numbers, is_free, places))
        is_known = numbers < len(self._sizes)
        for place in places[~is_known].tolist():
            self._sums.profile.skip(number + place, lines.text(place), _WRONG_NUMBERS)
        self._replay.add(numbers[is_known], is_free[is_known], self._all_sizes())

    def _take_line(self, number: int, line: str) -> None:
        kind, _, text = line.partition(" ")
        if (take := self._take.get(kind)) is not None:
            try:
                take(text.split())
            except (ValueError, IndexError, TypeError, OverflowError):
                # A program that crashed leaves half a line at the end.
                self._sums.profile.skip(number, line, _WRONG_NUMBERS)
        elif kind == "s":
            has_length = self._version is not None and self._version >= _FILE_WITH_LENGTHS
            self._table.add_string(text.partition(" ")[2] if has_length else text)
        elif kind == "X":
            self._capture["command"] = text
        elif kind in _RAW:
            raise MalformedProfile(f"line {number}: a raw recording: run heaptrack --interpret on it first")
        elif kind != "v":
            self._sums.profile.skip(number, line, "it is no line of a recording")

    def _take_instruction(self, words: Sequence[str]) -> None:
        address, *numbers = words
        self._table.add_instruction(address, *(int(word, 16) for word in numbers))

    def _take_trace(self, words: Sequence[str]) -> None:
        instruction, parent = words
        self._table.add_trace(int(instruction, 16), int(parent, 16))
        self._traces += 1
        if self._traces > self._limits.tree_nodes:
            raise LimitExceeded("number of traces", limit=self._limits.tree_nodes, value=self._traces)

    def _take_description(self, words: Sequence[str]) -> None:
        size, trace = words
        self._describe(int(size, 16), int(trace, 16))

    def _describe(self, size: int, trace: int) -> int:
        """The number of an allocation of this size there."""
        self._table.check(trace)
        if not 0 <= size <= MAX_VALUE:
            raise ValueError(size)
        self._sizes.append(size)
        self._traces_of.append(trace)
        return len(self._sizes) - 1

    def _all_sizes(self) -> Numbers:
        return np.array(self._sizes, np.int64)

    def _rows(self) -> Iterator[tuple[int, list[int]]]:
        """Of each trace that has any, its values."""
        replay, sizes = self._replay, self._all_sizes()
        columns = np.zeros((self._traces, len(_VALUE_TYPES)), np.int64)
        by_allocation = (replay.allocations, replay.temporary, replay.peak * sizes, replay.live * sizes)
        for column, values in enumerate(by_allocation):
            np.add.at(columns[:, column], np.array(self._traces_of, np.int64), values)
        for trace in np.flatnonzero(columns.any(axis=1)).tolist():
            yield trace, columns[trace].tolist()


def _file_version(block: bytes) -> int:
    words = block.partition(b"\n")[0].split()
    return int(words[2], 16) if len(words) > 2 else 0
