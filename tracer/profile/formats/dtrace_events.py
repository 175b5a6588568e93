"""The log of `memflame dtrace-script` to what each stack allocated and has not freed: the importer.

Events are one a line, with the time in nanoseconds; the stack of an allocation stands below it, up to a blank line.

# memflame-dtrace 1
malloc 721077787 0x5581c0 100
              libc.so.1`malloc+0x2c
              search-api`load_index+0x41

realloc 721078001 0x5581c0 0x5590a0 200
              search-api`grow+0x1a

free 721079999 0x5590a0
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

from tracer.profile.formats.blocks import OUTSTANDING_AND_ALLOCATED, Blocks
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text, read_by_line
from tracer.profile.model import Limits, Profile, Stack

NAME = "dtrace_events"
TITLE = "log of memflame's DTrace script"

_LOOKED_AT = 200  # lines: a program started by dtrace -c can print before its first allocation
_HEADER = "# memflame-dtrace 1"
_TIME, _ADDRESS = r" (\d{1,19})", r" 0x([0-9a-f]{1,16})"
_ALLOCATED = re.compile(rf"malloc{_TIME}{_ADDRESS} (\d{{1,18}})\s*")
_MOVED = re.compile(rf"realloc{_TIME}{_ADDRESS}{_ADDRESS} (\d{{1,18}})\s*")
_FREED = re.compile(rf"free{_TIME}{_ADDRESS}\s*")
_DROPS = re.compile(r"dtrace: (\d+) (?:dynamic variable )?drops?\b.*")
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")
_NO_STACK = 0


def matches(head: bytes) -> bool:
    return any(
        line.rstrip() == _HEADER or _ALLOCATED.fullmatch(line) for line in head_text(head).splitlines()[:_LOOKED_AT]
    )


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    return read_by_line(_Log(reading), steps, reading.limits)


class _Log:
    """Processors write their events one after the other, so all are put in order of time first."""

    def __init__(self, reading: Reading) -> None:
        self._limits = reading.limits
        self._sums = StackSums(OUTSTANDING_AND_ALLOCATED, reading.limits)
        self._events = _Events()
        self._frames: list[str] | None = None  # leaf first, of the allocation above them
        self._drops = 0

    def take(self, number: int, line: str) -> None:
        if self._frames is not None and line[:1].isspace() and line.strip():
            self._frames.append(_OFFSET.sub("", line.strip()))
            return
        self._end_stack()
        if found := _ALLOCATED.fullmatch(line):
            self._allocate(number, int(found[1]), int(found[2], 16), int(found[3]))
        elif found := _MOVED.fullmatch(line):
            self._events.add(number, int(found[1]), int(found[2], 16), size=_FREE)
            self._allocate(number, int(found[1]), int(found[3], 16), int(found[4]))
        elif found := _FREED.fullmatch(line):
            self._events.add(number, int(found[1]), int(found[2], 16), size=_FREE)
        elif drops := _DROPS.fullmatch(line):
            self._drops += int(drops[1])
        elif line.strip() and line.rstrip() != _HEADER:
            self._sums.profile.skip(number, line, "it is no event and no frame")

    def finish(self) -> Profile:
        self._end_stack()
        blocks = self._events.replayed(self._limits)
        for stack, values in blocks.rows():
            self._sums.add(stack, values)
        profile = self._sums.finish("the log holds no allocation")
        lost = {"lost": {"ring_buffer_full": self._drops}} if self._drops else {}
        profile.capture = {**blocks.capture(), **lost}
        return profile

    def _allocate(self, number: int, time: int, address: int, size: int) -> None:
        self._events.add(number, time, address, size=size)
        self._frames = []

    def _end_stack(self) -> None:
        if self._frames is not None:
            self._events.set_stack(tuple(reversed(self._frames)))
        self._frames = None


_FREE = -1  # the size of an event that gives back


class _Events:
    def __init__(self) -> None:
        self._lines, self._sizes, self._stacks = array("q"), array("q"), array("q")
        self._times, self._addresses = array("Q"), array("Q")
        self._number_by_stack: dict[Stack, int] = {("[stack not recorded]",): _NO_STACK}

    def add(self, line: int, time: int, address: int, *, size: int) -> None:
        self._lines.append(line)
        self._times.append(time)
        self._addresses.append(address)
        self._sizes.append(size)
        self._stacks.append(_NO_STACK)

    def set_stack(self, stack: Stack) -> None:
        """Of the last event."""
        if stack:
            self._stacks[-1] = self._number_by_stack.setdefault(stack, len(self._number_by_stack))

    def replayed(self, limits: Limits) -> Blocks:
        blocks, stacks = Blocks(limits), list(self._number_by_stack)
        for place in sorted(range(len(self._times)), key=self._times.__getitem__):
            if self._sizes[place] == _FREE:
                blocks.free(self._addresses[place])
            else:
                stack = stacks[self._stacks[place]]
                blocks.allocate(stack, self._addresses[place], self._sizes[place], self._lines[place])
        return blocks
