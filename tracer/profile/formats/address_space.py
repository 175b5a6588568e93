"""Ranges of a process's memory, each with who asked for it, kept through calls that map, unmap and protect."""

from __future__ import annotations

import bisect
from typing import NamedTuple

from tracer.profile.errors import LimitExceeded

MAX_RANGES = 1 << 18  # the kernel lets a process have 65,530 by default, neighbours that are alike being one
_PAGE = 4096  # lengths are asked for in bytes, but whole pages go


class Range(NamedTuple):
    start: int
    end: int
    owner: int | None  # number of a stack; None where the memory came from a parent process
    is_reserved: bool  # address space without access, no memory yet


class AddressSpace:
    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ranges: list[Range] = []  # in order, none overlaps

    def __len__(self) -> int:
        return len(self._ranges)

    def add(self, new: Range) -> None:
        """It takes the place of what was there."""
        if new.end <= new.start:
            return
        self.cut(new.start, new.end)
        self._put(bisect.bisect_left(self._starts, new.start), [new])

    def cut(self, start: int, end: int) -> list[Range]:
        """Take out the pages of these addresses; what was in them comes back."""
        end = -(-end // _PAGE) * _PAGE
        first = max(bisect.bisect_right(self._starts, start) - 1, 0)
        last = bisect.bisect_left(self._starts, end)
        touched = [known for known in self._ranges[first:last] if known.end > start]
        if not touched:
            return []
        first = last - len(touched)
        del self._starts[first:last], self._ranges[first:last]
        head, tail = touched[0], touched[-1]
        outside = [_part(head, head.start, start), _part(tail, end, tail.end)]
        self._put(first, [kept for kept in outside if kept.start < kept.end])
        return [_part(known, max(known.start, start), min(known.end, end)) for known in touched]

    def protect(self, start: int, end: int, *, is_reserved: bool) -> None:
        for known in self.cut(start, end):
            self.add(known._replace(is_reserved=is_reserved))

    def copy_for_child(self) -> AddressSpace:
        """The same ranges, none of which the child asked for."""
        child = AddressSpace()
        child._starts = self._starts.copy()
        child._ranges = [known._replace(owner=None) for known in self._ranges]
        return child

    def take_all(self) -> list[Range]:
        """The ranges, none of which is left."""
        taken, self._ranges, self._starts = self._ranges, [], []
        return taken

    def _put(self, place: int, new: list[Range]) -> None:
        self._ranges[place:place] = new
        self._starts[place:place] = [known.start for known in new]
        if len(self._ranges) > MAX_RANGES:
            raise LimitExceeded("number of mappings of a process", limit=MAX_RANGES, value=len(self._ranges))


def _part(known: Range, start: int, end: int) -> Range:
    return Range(start, end, known.owner, known.is_reserved)
