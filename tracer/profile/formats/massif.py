"""A valgrind massif file to the heap at each of its snapshots, by stack where it has a tree: the importer.

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
from tracer.profile.formats.moments import moments_by_line, shown_by_default
from tracer.profile.formats.reading import Moment, Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text
from tracer.profile.formats.valgrind_frames import frame_name
from tracer.profile.model import Limits, Profile, ValueType

NAME = "massif"
TITLE = "valgrind massif"

_HEAD = re.compile(r"desc: .*\ncmd: .*\ntime_unit: ", re.MULTILINE)
_KEY = re.compile(r"(desc|cmd|time_unit|snapshot|time|mem_heap_B|mem_heap_extra_B|mem_stacks_B|heap_tree)(?:: |=)(.*)")
_NODE = re.compile(r" *n(\d+): (\d+) (.*)")
_BELOW = re.compile(r"in \d+ places?, (?:all )?below massif's threshold.*")
_OF_FILE = ("desc", "cmd", "time_unit")
_NO_TREE, _TREE, _PEAK = range(3)  # in the order of their precedence
_RANKS = {"detailed": _TREE, "peak": _PEAK}
_UNITS = {"i": "instructions", "B": "bytes allocated and freed"}
_VALUE_TYPES = (ValueType("heap_bytes", "bytes", "level", "Bytes on the heap, without what the allocator adds"),)


def matches(head: bytes) -> bool:
    return _HEAD.match(head_text(head)) is not None


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    """The peak, else the largest with a tree."""
    return shown_by_default(read_moments(steps, reading))


def read_moments(steps: Iterator[bytes], reading: Reading) -> Iterator[Moment]:
    return moments_by_line(_Text(reading.limits), steps, reading.limits)


@dataclass(slots=True)
class _Node:
    name: str
    size: int
    children_left: int
    below: int = 0  # bytes of the children


@dataclass(slots=True)
class _Tree:
    """One snapshot's, read node by node; each says how many children follow, and a node's callers are its children."""

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
    """Snapshot after snapshot: each is a level, so trees of two are never added."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._values: dict[str, str] = {}
        self._snapshots = self._trees = 0
        self._tree: _Tree | None = None
        self._skipped = Profile(())

    def take(self, number: int, line: str) -> Moment | None:
        node = _NODE.fullmatch(line) if self._tree is not None else None
        if node is not None and self._tree is not None:
            self._tree.take(number, int(node[1]), int(node[2]), node[3], self._limits)
        elif key := _KEY.fullmatch(line):
            return self._take_value(number, key[1], key[2].strip())
        elif line.strip() and not line.startswith("#"):
            self._skipped.skip(number, line, "it is neither a value nor a node of a tree")
        return None

    def finish(self) -> Moment | None:
        moment = self._end_snapshot(None)
        if not self._trees:
            taken = f"none of massif's snapshots, {self._snapshots:,} in all, has a tree"
            raise EmptyProfile(f"{taken}: run it with --detailed-freq=1, and without --heap=no")
        return moment

    def _take_value(self, number: int, key: str, text: str) -> Moment | None:
        ended = self._end_snapshot(number) if key == "snapshot" else None
        self._snapshots += key == "snapshot"
        self._values[key] = text
        if key == "heap_tree" and text in _RANKS:
            self._tree = _Tree(StackSums(_VALUE_TYPES, self._limits))
            self._trees += 1
        return ended

    def _end_snapshot(self, number: int | None) -> Moment | None:
        snapshot, tree = self._values.pop("snapshot", ""), self._tree
        if tree is not None and not tree.is_whole:
            where = f"line {number}" if number is not None else "the end of the file"
            raise MalformedProfile(f"{where}: the tree of snapshot {snapshot} has fewer nodes than it says")
        sums = tree.sums if tree is not None else self._total_only(number) if snapshot else None
        moment = self._moment(snapshot, sums, tree) if sums is not None else None
        self._tree = None
        self._values = {key: text for key, text in self._values.items() if key in _OF_FILE}
        return moment

    def _total_only(self, number: int | None) -> StackSums | None:
        """Most snapshots have no tree; they tell how the heap grew between those that have."""
        size = self._values.get("mem_heap_B", "")
        if not size.isdecimal() or "heap_tree" not in self._values:  # the file was cut off here
            return None
        sums = StackSums(_VALUE_TYPES, self._limits)
        sums.add(["[stack not recorded]"], [int(size)], number)
        return sums

    def _moment(self, snapshot: str, sums: StackSums, tree: _Tree | None) -> Moment:
        rank = _RANKS.get(self._values.get("heap_tree", ""), _NO_TREE)
        label = f"massif snapshot {snapshot}" + (" (peak)" if rank == _PEAK else "")
        time, unit = self._values.get("time", "?"), self._values.get("time_unit", "i")
        is_clock = unit == "ms" and time.isdecimal()
        if not is_clock:
            label += f" after {f'{int(time):,}' if time.isdecimal() else time} {_UNITS.get(unit, unit)}"
        profile = sums.finish()
        profile.capture = {"command": self._values.get("cmd", ""), "notes": self._notes(label, rank)}
        profile.skipped, profile.skipped_lines = self._skipped.skipped, self._skipped.skipped_lines
        self._skipped = Profile(())
        elapsed_s = int(time) / 1000 if is_clock else None
        return Moment(profile, elapsed_s, label, precedence=(rank, tree.size if tree is not None else 0))

    def _notes(self, label: str, rank: int) -> list[str]:
        beside = {"that the allocator adds": "mem_heap_extra_B", "of stacks": "mem_stacks_B"}
        counted = {what: self._values.get(key, "0") for what, key in beside.items()}
        notes = [f"This is {label}."]
        if rank == _NO_TREE:
            notes.append("Massif kept no stacks at this snapshot, only its total.")
        notes += [f"Not in it: {size} bytes {what}." for what, size in counted.items() if size != "0"]
        return notes


def _name(text: str) -> str:
    if _BELOW.fullmatch(text):
        return "[below threshold]"
    if (name := frame_name(text)) is not None:
        return name
    # What stands above all: `(heap allocation functions) malloc/new/new[], …`.
    return text.partition(") ")[0] + ")" if text.startswith("(") and ") " in text else text
