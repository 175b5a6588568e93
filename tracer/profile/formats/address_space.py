"""Ranges of a process's memory, each with who asked for it, kept through calls that map, unmap and protect."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

from tracer.profile.errors import LimitExceeded

MAX_RANGES = 1 << 17  # the kernel lets a process have 65,530 by default, neighbours that are alike being one
MAX_COPIED = 4 << 20  # ranges, for all children of a log together: 0.4 GB
_PAGE = 4096  # lengths are asked for in bytes, but whole pages go


class Range(NamedTuple):
    start: int
    end: int
    owner: int | None  # number of a stack; None where the memory came from a parent process
    is_reserved: bool  # address space without access, no memory yet


@dataclass(slots=True)
class Copies:
    """How many ranges were copied for children until now."""

    count: int = 0

    def add(self, count: int) -> None:
        self.count += count
        if self.count > MAX_COPIED:
            raise LimitExceeded("number of mappings copied by forks", limit=MAX_COPIED, value=self.count)


class AddressSpace:
    """A child has its parent's list until one of the two changes: most children soon execute another program."""

    def __init__(self, copies: Copies) -> None:
        self._copies = copies
        self._ranges: list[Range] = []  # in order, none overlaps
        self._is_shared = False  # the list is also that of another process
        self._is_inherited = False  # all of it came from the parent

    def empty(self) -> AddressSpace:
        """Of the program that takes this one's place."""
        return AddressSpace(self._copies)

    def add(self, new: Range) -> None:
        """It takes the place of what was there."""
        if new.end <= new.start:
            return
        self.cut(new.start, new.end)
        self._put(bisect_left(self._ranges, (new.start,)), [new])

    def cut(self, start: int, end: int) -> list[Range]:
        """Take out the pages of these addresses; what was in them comes back."""
        self._own()
        end = -(-end // _PAGE) * _PAGE
        first = max(bisect_left(self._ranges, (start + 1,)) - 1, 0)
        last = bisect_left(self._ranges, (end,))
        touched = [known for known in self._ranges[first:last] if known.end > start]
        if not touched:
            return []
        first = last - len(touched)
        del self._ranges[first:last]
        head, tail = touched[0], touched[-1]
        outside = [_part(head, head.start, start), _part(tail, end, tail.end)]
        self._put(first, [kept for kept in outside if kept.start < kept.end])
        return [_part(known, max(known.start, start), min(known.end, end)) for known in touched]

    def protect(self, start: int, end: int, *, is_reserved: bool) -> None:
        for known in self.cut(start, end):
            self.add(known._replace(is_reserved=is_reserved))

    def copy_for_child(self) -> AddressSpace:
        """The same ranges, none of which the child asked for."""
        child = self.empty()
        child._ranges, child._is_shared, child._is_inherited = self._ranges, True, True
        self._is_shared = True
        return child

    def take_all(self) -> list[Range]:
        """The ranges that the process asked for itself, none of which is left."""
        taken = [] if self._is_inherited else [known for known in self._ranges if known.owner is not None]
        self._ranges, self._is_shared, self._is_inherited = [], False, False
        return taken

    def _own(self) -> None:
        """Before a change, have a list for this process alone."""
        if self._is_inherited:
            self._copies.add(len(self._ranges))
            self._ranges = [known._replace(owner=None) for known in self._ranges]
        elif self._is_shared:
            self._copies.add(len(self._ranges) // 8)  # references only
            self._ranges = self._ranges.copy()
        self._is_shared = self._is_inherited = False

    def _put(self, place: int, new: list[Range]) -> None:
        self._ranges[place:place] = new
        if len(self._ranges) > MAX_RANGES:
            raise LimitExceeded("number of mappings of a process", limit=MAX_RANGES, value=len(self._ranges))


def _part(known: Range, start: int, end: int) -> Range:
    return Range(start, end, known.owner, known.is_reserved)
