"""Mappings and unmappings, whole or in part, to the bytes that each owner still holds."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

Owner = TypeVar("Owner", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Range(Generic[Owner]):
    """Addresses from `start` up to `end`, mapped at a time for an owner."""

    start: int
    end: int
    mapped_ns: int
    owner: Owner


class RangeMap(Generic[Owner]):
    """Ranges without overlap.

    Times matter since events of two processors can arrive in the wrong order: an unmapping takes away only what was
    mapped before it, so it can't hit a mapping that got the same addresses right after it.
    """

    def __init__(self) -> None:
        self._ranges: list[Range[Owner]] = []  # by start
        self._starts: list[int] = []
        self.bytes_by_owner: Counter[Owner] = Counter()

    def map(self, start: int, end: int, *, at_ns: int, owner: Owner) -> None:
        """Add a range in place of what was there before it."""
        self.unmap(start, end, at_ns=at_ns)
        place = start
        for later in self._overlapping(start, end):
            self._insert(Range(place, later.start, at_ns, owner))
            place = later.end
        self._insert(Range(place, end, at_ns, owner))

    def unmap(self, start: int, end: int, *, at_ns: int) -> None:
        for old in self._overlapping(start, end):
            if old.mapped_ns <= at_ns:
                self._remove(old)
                self._insert(replace(old, end=min(old.end, start)))
                self._insert(replace(old, start=max(old.start, end)))

    def __len__(self) -> int:
        return len(self._ranges)

    def _overlapping(self, start: int, end: int) -> list[Range[Owner]]:
        first = max(0, bisect.bisect_right(self._starts, start) - 1)
        last = bisect.bisect_left(self._starts, end)
        return [known for known in self._ranges[first:last] if known.end > start]

    def _insert(self, new: Range[Owner]) -> None:
        if new.start >= new.end:
            return
        position = bisect.bisect_left(self._starts, new.start)
        self._ranges.insert(position, new)
        self._starts.insert(position, new.start)
        self.bytes_by_owner[new.owner] += new.end - new.start

    def _remove(self, old: Range[Owner]) -> None:
        position = bisect.bisect_left(self._starts, old.start)
        del self._ranges[position], self._starts[position]
        self.bytes_by_owner[old.owner] -= old.end - old.start
