"""A valgrind massif file to the heap at its peak, by stack: the importer.

https://valgrind.org/docs/manual/ms-manual.html

desc: (none)
cmd: ./search-api
time_unit: i
#-----------
snapshot=1
#-----------
time=1808044
mem_heap_B=1500000
mem_heap_extra_B=8
mem_stacks_B=0
heap_tree=peak
n1: 1500000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n0: 1500000 0x10A3C3: load_index (index.c:32)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tracer.profile.errors import EmptyProfile, LimitExceeded, MalformedProfile
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text, read_by_line
from tracer.profile.formats.valgrind_frames import frame_name
from tracer.profile.model import Limits, Profile, ValueType

NAME = "massif"
TITLE = "valgrind massif"

_HEAD = re.compile(r"desc: .*\ncmd: .*\ntime_unit: ", re.MULTILINE)
_KEY = re.compile(r"(desc|cmd|time_unit|snapshot|time|mem_heap_B|mem_heap_extra_B|mem_stacks_B|heap_tree)(?:: |=)(.*)")
_NODE = re.compile(r" *n(\d+): (\d+) (.*)")
_BELOW = re.compile(r"in \d+ places?, (?:all )?below massif's threshold.*")
_VALUE_TYPES = (ValueType("heap_bytes", "bytes", "level", "Bytes on the heap at the moment of massif's snapshot"),)


def matches(head: bytes) -> bool:
    return _HEAD.match(head_text(head)) is not None


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    return read_by_line(_Text(reading.limits), steps, reading.limits)


@dataclass(slots=True)
class _Node:
    name: str
    size: int
    children_left: int
    below: int = 0  # bytes of the children


@dataclass(slots=True)
class _Tree:
    """One snapshot's, read node by node; each says how many children follow, and a node's callers are its children."""

    snapshot: str
    is_peak: bool
    sums: StackSums
    size: int = -1  # of the root
    open: list[_Node] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return self.size >= 0 and not self.open

    def take(self, number: int, children: int, size: int, text: str, limits: Limits) -> None:
        if self.is_whole:
            raise MalformedProfile(f"line {number}: a node that is nobody's child: a count of children above is wrong")
        if len(self.open) >= limits.stack_frames:
            what = "number of frames in a stack"
            raise LimitExceeded(what, limit=limits.stack_frames, value=len(self.open) + 1, line=number)
        self.size = max(self.size, size) if self.open else size
        self.open.append(_Node(_name(text), size, children))
        while self.open and not self.open[-1].children_left:
            self._close(number)

    def _close(self, number: int) -> None:
        """What its callers do not have is its own."""
        node = self.open[-1]
        own = node.size - node.below
        if own or not node.below:
            self.sums.add([each.name for each in reversed(self.open)], [own], number)
        self.open.pop()
        if self.open:
            self.open[-1].below += node.size
            self.open[-1].children_left -= 1


class _Text:
    """Keeps the tree of the peak, else the largest: trees of two moments are never added."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._values: dict[str, str] = {}
        self._snapshots = 0
        self._tree: _Tree | None = None
        self._best: _Tree | None = None
        self._best_time = ""
        self._skipped = Profile(())

    def take(self, number: int, line: str) -> None:
        node = _NODE.fullmatch(line) if self._tree is not None else None
        if node is not None and self._tree is not None:
            self._tree.take(number, int(node[1]), int(node[2]), node[3], self._limits)
        elif key := _KEY.fullmatch(line):
            self._take_value(number, key[1], key[2].strip())
        elif line.strip() and not line.startswith("#"):
            self._skipped.skip(number, line, "it is neither a value nor a node of a tree")

    def finish(self) -> Profile:
        self._end_tree(None)
        if self._best is None:
            taken = f"none of massif's snapshots, {self._snapshots:,} in all, has a tree"
            raise EmptyProfile(f"{taken}: run it with --detailed-freq=1, and without --heap=no")
        profile = self._best.sums.finish()
        kind = "the peak" if self._best.is_peak else "the largest with a tree; massif marked no peak"
        when = f"time {self._best_time} ({self._values.get('time_unit', 'i')})"
        note = f"Snapshot {self._best.snapshot} of {self._snapshots:,}, {kind}, at {when}."
        profile.capture = {"command": self._values.get("cmd", ""), "notes": [note]}
        profile.skipped, profile.skipped_lines = self._skipped.skipped, self._skipped.skipped_lines
        return profile

    def _take_value(self, number: int, key: str, text: str) -> None:
        if key == "snapshot":
            self._end_tree(number)
            self._snapshots += 1
        self._values[key] = text
        if key == "heap_tree" and text in ("detailed", "peak"):
            self._tree = _Tree(self._values.get("snapshot", "?"), text == "peak", StackSums(_VALUE_TYPES, self._limits))

    def _end_tree(self, number: int | None) -> None:
        tree, self._tree = self._tree, None
        if tree is None:
            return
        if not tree.is_whole:
            where = f"line {number}" if number is not None else "the end of the file"
            raise MalformedProfile(f"{where}: the tree of snapshot {tree.snapshot} has fewer nodes than it says")
        if self._best is None or (tree.is_peak, tree.size) > (self._best.is_peak, self._best.size):
            self._best, self._best_time = tree, self._values.get("time", "?")


def _name(text: str) -> str:
    if _BELOW.fullmatch(text):
        return "[below threshold]"
    if (name := frame_name(text)) is not None:
        return name
    # What stands above all: `(heap allocation functions) malloc/new/new[], …`.
    return text.partition(") ")[0] + ")" if text.startswith("(") and ") " in text else text
