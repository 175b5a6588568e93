"""Lines of heaptrack that allocate and free to counts by allocation, many at once (numpy)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tracer.profile.errors import LimitExceeded
from tracer.profile.model import MAX_VALUE

Numbers = npt.NDArray[Any]
_BATCH = 1 << 20  # events that are kept until they are replayed: 5 bytes each
_MAX_DIGITS = 8
_NO_DIGIT = 255
_DIGITS = np.full(256, _NO_DIGIT, np.uint8)
_DIGITS[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)
_NEWLINE, _RETURN, _SPACE = b"\n\r "
_PLUS, _MINUS = b"+-"
_NOTHING = -1


class Lines:
    """Where the lines of a block begin and end, and which of them are events of one number."""

    def __init__(self, block: bytes, *, has_events: bool) -> None:
        """Files of the first version have no events of one number."""
        self._block, self._raw = block, np.frombuffer(block + b"\n  ", np.uint8)
        newlines = np.flatnonzero(self._raw == _NEWLINE)
        self._starts = np.concatenate(([0], newlines[:-1] + 1))
        self._ends = newlines - (self._raw[newlines - 1] == _RETURN)
        self._kinds = self._raw[self._starts]
        self._find_events(has_events)

    def others(self, passed_over: bytes) -> Iterator[tuple[int, str]]:
        """Place and text of each line that is no event and begins with none of these."""
        is_other = ~(self._is_event | np.isin(self._kinds, np.frombuffer(passed_over, np.uint8)))
        for place in np.flatnonzero(is_other & (self._ends > self._starts)).tolist():
            yield place, self.text(place)

    def text(self, place: int) -> str:
        return self._block[self._starts[place] : self._ends[place]].decode("utf-8", "replace")

    def events(self) -> tuple[Numbers, Numbers, Numbers]:
        """Of each event its place among the lines, the number in it, and whether it frees."""
        places = np.flatnonzero(self._is_event)
        return places, self._numbers[places], self._kinds[places] == _MINUS

    def _find_events(self, has_events: bool) -> None:
        sizes = self._ends - self._starts - 2
        signs = has_events & ((self._kinds == _PLUS) | (self._kinds == _MINUS))
        found = signs & (sizes > 0) & (sizes <= _MAX_DIGITS) & (self._raw[self._starts + 1] == _SPACE)
        numbers = np.zeros(len(sizes), np.int64)
        for place in range(int(sizes[found].max(initial=0))):
            there = np.flatnonzero(found & (sizes > place))
            digits = _DIGITS[self._raw[self._starts[there] + 2 + place]]
            numbers[there] = numbers[there] * 16 + digits
            found[there[digits == _NO_DIGIT]] = False
        self._is_event, self._numbers = found, numbers


class Replay:
    """By allocation's number: how often it was made, how often for a moment only, and how many are held."""

    def __init__(self) -> None:
        self._pending: list[tuple[Numbers, Numbers]] = []
        self._pending_events = self._held = self._most = 0
        self._moved = 0.0
        self._last = _NOTHING  # what the event before allocated
        self.allocations = self.temporary = self.live = self.peak = np.zeros(0, np.int64)

    def add(self, numbers: Numbers, is_free: Numbers, sizes: Numbers) -> None:
        """Events in their order; `sizes` are the bytes of each allocation that is known by now."""
        if not len(numbers):
            return
        self._pending.append((numbers.astype(np.uint32), is_free))
        self._pending_events += len(numbers)
        if self._pending_events >= _BATCH:
            self.settle(sizes)

    def settle(self, sizes: Numbers) -> None:
        """Replay what was added since the last time; afterwards there is a count for each of the sizes."""
        numbers = np.concatenate([np.zeros(0, np.uint32), *(numbers for numbers, _ in self._pending)])
        is_free = np.concatenate([np.zeros(0, bool), *(is_free for _, is_free in self._pending)])
        self._pending, self._pending_events = [], 0
        self._grow(len(sizes))
        if len(numbers):
            self._replay(numbers, is_free, sizes)

    def _grow(self, count: int) -> None:
        missing = np.zeros(count - len(self.live), np.int64)
        self.allocations, self.temporary, self.live, self.peak = (
            np.concatenate((column, missing)) for column in (self.allocations, self.temporary, self.live, self.peak)
        )

    def _replay(self, numbers: Numbers, is_free: Numbers, sizes: Numbers) -> None:
        moved = np.where(is_free, -sizes[numbers], sizes[numbers])
        self._watch(moved)
        held = self._held + np.cumsum(moved)
        top = int(held.argmax())
        if held[top] > self._most:
            self._most = int(held[top])
            self.peak = self.live + self._change(numbers[: top + 1], is_free[: top + 1])
        self._held = int(held[-1])
        self.live = self.live + self._change(numbers, is_free)
        self.allocations += self._counts(numbers[~is_free])
        self.temporary += self._counts(numbers[self._is_temporary(numbers, is_free)])

    def _is_temporary(self, numbers: Numbers, is_free: Numbers) -> Numbers:
        """Frees what the very event before has allocated."""
        before = np.concatenate(([self._last], np.where(is_free, _NOTHING, numbers.astype(np.int64))))
        self._last = int(before[-1])
        found: Numbers = is_free & (before[:-1] == numbers)
        return found

    def _change(self, numbers: Numbers, is_free: Numbers) -> Numbers:
        return self._counts(numbers[~is_free]) - self._counts(numbers[is_free])

    def _counts(self, numbers: Numbers) -> Numbers:
        counts: Numbers = np.bincount(numbers, minlength=len(self.live))
        return counts

    def _watch(self, moved: Numbers) -> None:
        """No sum of some of them can be larger than that of all."""
        self._moved += float(np.abs(moved).sum(dtype=np.float64))
        if self._moved > MAX_VALUE:
            raise LimitExceeded("sum of bytes allocated and freed", limit=MAX_VALUE, value=int(self._moved))


class OldEvents:
    """Those of the first version: `+ SIZE TRACE POINTER` and `- POINTER`, told as events of one number."""

    def __init__(self, describe: Callable[[int, int], int]) -> None:
        self._describe = describe
        self._number_by_block: dict[tuple[int, int, int], int] = {}
        self._live: dict[int, int] = {}  # numbers, by pointer
        self._numbers: list[int] = []
        self._frees: list[bool] = []

    def allocate(self, words: Sequence[str]) -> None:
        size, trace, pointer = (int(word, 16) for word in words)
        block = size, trace, pointer
        number = self._number_by_block.get(block)
        if number is None:
            number = self._number_by_block[block] = self._describe(size, trace)
        self._live[pointer] = number
        self._add(number, is_free=False)

    def free(self, words: Sequence[str]) -> None:
        number = self._live.pop(int(words[0], 16), None)
        if number is not None:
            self._add(number, is_free=True)

    def forget_counts(self) -> None:
        self._numbers, self._frees = [], []

    def events(self) -> tuple[Numbers, Numbers, Numbers]:
        """Those since the last time, as of Lines; all of them count."""
        numbers, is_free = np.array(self._numbers, np.int64), np.array(self._frees, bool)
        self.forget_counts()
        return np.full(len(numbers), np.iinfo(np.int64).max), numbers, is_free

    def _add(self, number: int, *, is_free: bool) -> None:
        self._numbers.append(number)
        self._frees.append(is_free)
