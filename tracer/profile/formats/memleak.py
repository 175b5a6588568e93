"""Text of bcc's memleak to what was outstanding at each of its reports: the importer.

https://github.com/iovisor/bcc/blob/master/tools/memleak_example.txt

[11:16:34] Top 2 stacks with outstanding allocations:
        160 bytes in 10 allocations from stack
                0x0000563f main+0x6d [allocs]
                0x00007f31 __libc_start_main+0xf0 [libc.so.6]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.profile.errors import EmptyProfile
from tracer.profile.formats.moments import moments_by_line, shown_by_default
from tracer.profile.formats.reading import Moment, Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text
from tracer.profile.model import Profile, ValueType

NAME = "memleak"
TITLE = "bcc memleak"

_REPORT = re.compile(r"\[(\d+:\d+:\d+)\] Top \d+ stacks with outstanding allocations:\s*")
_STACK = re.compile(r"\s*(\d+) bytes in (\d+) allocations from stack\s*")
_BLOCK = re.compile(r"\s+addr = \S+ size = \S+\s*")  # with -a; in the sum of its stack already
# The address as old, new and libbpf versions write it; the offset; the module, which the kernel may lack.
_FRAME = re.compile(
    r"\s+(?:\d+ +\[<[0-9a-f]+>\] +|0x[0-9a-f]+\s+)?(?P<name>\S.*?)(?:\+0x[0-9a-f]+)?(?: +\[(?P<module>[^\[\]]+)\])?\s*"
)
_ATTACHING = re.compile(r"Attaching to (?:pid \d+|kernel allocators), Ctrl\+C to quit\.\s*")
_CHATTER = ("^C", "...")
_UNKNOWN = ("[unknown]", "<null sym>")
_VALUE_TYPES = (
    ValueType("outstanding_bytes", "bytes", "level", "Bytes not freed yet, older than memleak's -o"),
    ValueType("outstanding_objects", "objects", "level", "Allocations not freed yet, older than memleak's -o"),
)


def matches(head: bytes) -> bool:
    return any(
        _REPORT.fullmatch(line) or _STACK.fullmatch(line) or _ATTACHING.fullmatch(line)
        for line in head_text(head).splitlines()
    )


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    """The last report."""
    profile = shown_by_default(read_moments(steps, reading))
    if not profile.stack_count:
        raise EmptyProfile("memleak's last report holds no stack")
    return profile


def read_moments(steps: Iterator[bytes], reading: Reading) -> Iterator[Moment]:
    return moments_by_line(_Text(reading), steps, reading.limits)


class _Text:
    """Reports are levels: each is a moment of its own, they are never added. One may say that all was freed."""

    def __init__(self, reading: Reading) -> None:
        self._limits = reading.limits
        self._reports = self._stacks = 0
        self._time = ""
        self._elapsed_s = 0
        self._sums = StackSums(_VALUE_TYPES, self._limits)
        self._open: tuple[int, int, int] | None = None  # line, bytes, objects
        self._frames: list[str] = []  # leaf first

    def take(self, number: int, line: str) -> Moment | None:
        if report := _REPORT.fullmatch(line):
            return self._begin(report[1])
        if stack := _STACK.fullmatch(line):
            self._end_stack()
            self._open = number, int(stack[1]), int(stack[2])
        elif _BLOCK.fullmatch(line) or not line.strip():
            return None
        elif self._open and (frame := _FRAME.fullmatch(line)):
            self._frames.append(_name(frame))
        elif line.strip() not in _CHATTER and not _ATTACHING.fullmatch(line):
            self._sums.profile.skip(number, line, "it belongs to no stack of a report")
        return None

    def finish(self) -> Moment:
        moment = self._end_report()
        if not self._stacks:
            raise EmptyProfile("memleak's reports hold no stack" if self._reports else "memleak printed no report")
        return moment

    def _begin(self, time: str) -> Moment | None:
        """What stands before the first report goes with it, unless it is a report whose head is missing."""
        ended = self._end_report() if self._reports or self._open else None
        if ended is not None:
            self._sums = StackSums(_VALUE_TYPES, self._limits)
        self._elapsed_s += _seconds_between(self._time, time) if self._time else 0
        self._time = time
        self._reports += 1
        return ended

    def _end_report(self) -> Moment:
        self._end_stack()
        profile = self._sums.profile
        self._stacks += profile.stack_count
        if not self._time:
            return Moment(profile, elapsed_s=None, label="")
        profile.capture = {"notes": [f"What memleak reported at {self._time}."]}
        return Moment(profile, float(self._elapsed_s), f"report of {self._time}")

    def _end_stack(self) -> None:
        if self._open is None:
            return
        line, size, objects = self._open
        self._sums.add([*reversed(self._frames)] or ["[stack not recorded]"], [size, objects], line)
        self._open, self._frames = None, []


def _seconds_between(earlier: str, later: str) -> int:
    """Of two times of day, the second not a whole day after the first."""
    return (_second_of_day(later) - _second_of_day(earlier)) % 86_400


def _second_of_day(time: str) -> int:
    hours, minutes, seconds = map(int, time.split(":"))
    return hours * 3600 + minutes * 60 + seconds


def _name(frame: re.Match[str]) -> str:
    """Of a frame without a name, its module."""
    name, module = frame["name"], frame["module"]
    return f"[{module}]" if module and name in _UNKNOWN else name
