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

from tracer.profile.errors import LimitExceeded, MalformedProfile
from tracer.profile.formats.heaptrack_trace import TraceTable
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text, read_by_line
from tracer.profile.model import Limits, Profile, ValueType

NAME = "heaptrack"
TITLE = "heaptrack"

_VERSION = re.compile(r"v [0-9a-f]+(?: [0-9a-f]+)?\s*\n")
_FILE_WITH_LENGTHS = 3  # before each string
_RAW = ("x", "m")  # addresses as they were recorded
_NOT_NEEDED = ("", "c", "R", "I", "S")  # time, resident pages, size of a page, suppressions
_VALUE_TYPES = (
    ValueType("allocations", "calls", "flow", "Calls that allocated"),
    ValueType("temporary", "calls", "flow", "Allocations that were freed before the next one"),
    ValueType("peak_bytes", "bytes", "level", "Bytes held when the program held most"),
    ValueType("leaked_bytes", "bytes", "level", "Bytes not freed when the recording ended, suppressed ones as well"),
)


def matches(head: bytes) -> bool:
    return _VERSION.match(head_text(head)) is not None


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    return read_by_line(_Replay(reading.limits), steps, reading.limits)


class _Costs:
    """By trace. At a new peak only what has changed since the last one is copied."""

    def __init__(self) -> None:
        self.allocations, self.temporary = array("q"), array("q")
        self.live, self.peak = array("q"), array("q")
        self.held = self.most = 0
        self._changed: set[int] = set()

    def grow(self, traces: int) -> None:
        missing = traces - len(self.live)
        for column in (self.allocations, self.temporary, self.live, self.peak):
            column.extend([0] * missing)

    def allocate(self, trace: int, size: int) -> None:
        self.allocations[trace] += 1
        self._change(trace, size)
        if self.held > self.most:
            self.most = self.held
            for changed in self._changed:
                self.peak[changed] = self.live[changed]
            self._changed.clear()

    def free(self, trace: int, size: int, *, is_temporary: bool) -> None:
        self.temporary[trace] += is_temporary
        self._change(trace, -size)

    def _change(self, trace: int, size: int) -> None:
        self.live[trace] += size
        self.held += size
        self._changed.add(trace)

    def rows(self) -> Iterator[tuple[int, tuple[int, int, int, int]]]:
        for trace, values in enumerate(zip(self.allocations, self.temporary, self.peak, self.live, strict=True)):
            if any(values):
                yield trace, values


class _Replay:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._table, self._costs, self._sums = TraceTable(), _Costs(), StackSums(_VALUE_TYPES, limits)
        self._traces = 1
        self._sizes, self._traces_of = array("q"), array("q")  # of an allocation's description
        self._by_pointer: dict[int, tuple[int, int]] = {}  # first version of the file: size and trace
        self._last: int | None = None  # what the event before allocated
        self._version = 0
        self._capture: dict[str, object] = {}
        self._take: dict[str, Callable[[Sequence[str]], None]] = {
            "v": self._take_version, "i": self._take_instruction, "t": self._take_trace,
            "a": self._take_description, "+": self._take_allocation, "-": self._take_free,
        }  # fmt: skip

    def take(self, number: int, line: str) -> None:
        kind, _, text = line.partition(" ")
        if kind == "s":
            self._table.add_string(text.partition(" ")[2] if self._version >= _FILE_WITH_LENGTHS else text)
        elif kind == "X":
            self._capture["command"] = text
        elif kind == "A":
            self._costs = _Costs()
            self._costs.grow(self._traces)
        elif kind in _RAW:
            raise MalformedProfile(f"line {number}: a raw recording: run heaptrack --interpret on it first")
        elif kind in self._take:
            self._take_numbers(number, line, self._take[kind], text)
        elif kind not in _NOT_NEEDED and not kind.startswith("#"):
            self._sums.profile.skip(number, line, "it is no line of a recording")

    def finish(self) -> Profile:
        for trace, values in self._costs.rows():
            self._sums.add(self._table.stack(trace) or ["[stack not recorded]"], values)
        profile = self._sums.finish("the recording holds no allocation")
        profile.capture = self._capture
        return profile

    def _take_numbers(self, number: int, line: str, take: Callable[[Sequence[str]], None], text: str) -> None:
        try:
            take(text.split())
        except (ValueError, IndexError, TypeError, OverflowError):
            # A program that crashed leaves half a line at the end.
            self._sums.profile.skip(number, line, "its numbers are not those of such a line")

    def _take_version(self, words: Sequence[str]) -> None:
        self._version = int(words[1], 16) if len(words) > 1 else 0

    def _take_instruction(self, words: Sequence[str]) -> None:
        address, *numbers = words
        self._table.add_instruction(address, *(int(word, 16) for word in numbers))

    def _take_trace(self, words: Sequence[str]) -> None:
        instruction, parent = (int(word, 16) for word in words)
        self._table.add_trace(instruction, parent)
        self._traces += 1
        if self._traces > self._limits.tree_nodes:
            raise LimitExceeded("number of traces", limit=self._limits.tree_nodes, value=self._traces)
        self._costs.grow(self._traces)

    def _take_description(self, words: Sequence[str]) -> None:
        size, trace = (int(word, 16) for word in words)
        self._table.check(trace)
        self._costs.grow(self._traces)
        self._sizes.append(size)
        self._traces_of.append(trace)

    def _take_allocation(self, words: Sequence[str]) -> None:
        numbers = [int(word, 16) for word in words]
        if len(numbers) == 1:
            self._costs.allocate(self._traces_of[numbers[0]], self._sizes[numbers[0]])
            self._last = numbers[0]
            return
        size, trace, pointer = numbers
        self._table.check(trace)
        self._costs.allocate(trace, size)
        self._by_pointer[pointer] = size, trace
        self._last = pointer

    def _take_free(self, words: Sequence[str]) -> None:
        number = int(words[0], 16)
        is_temporary, self._last = number == self._last, None
        if self._version:
            self._costs.free(self._traces_of[number], self._sizes[number], is_temporary=is_temporary)
        elif number in self._by_pointer:
            size, trace = self._by_pointer.pop(number)
            self._costs.free(trace, size, is_temporary=is_temporary)
