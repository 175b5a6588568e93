"""Text of bcc's stackcount to calls by stack: the importer.

https://github.com/iovisor/bcc/blob/master/tools/stackcount_example.txt

Tracing 1 functions for "c:malloc"... Hit Ctrl-C to end.

  malloc
  load_index
  main
    search-api [4711]
    23
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import Meanings, head_text, read_by_line
from tracer.profile.model import Profile, ValueType

NAME = "stackcount"
TITLE = "bcc stackcount"

# What stands where tells what it is: a function may well be called 123.
_COUNT = re.compile(r" {4}(\d+)\s*")
_PROCESS = re.compile(r" {4}(\S.*\[\d+\])\s*")
_DELIMITER = re.compile(r" {4}--\s*")
_FRAME = re.compile(r" {2}(?:[0-9a-f]{8,16} +)?(\S.*?)\s*")
_OFFSET = re.compile(r"(?<=.)\+?0x[0-9a-f]+$")  # old versions wrote no plus
_BYTES = re.compile(r"^b(['\"])(.+)\1")  # bcc under Python 3 wrote names as it shows bytes
_BANNER = re.compile(r'Tracing \d+ functions? for "(.*)"\.\.\. Hit Ctrl-C to end\.\s*')
_CHATTER = re.compile(r"\^C|Detaching\.\.\.|\d\d:\d\d:\d\d|.*\(omitted for brevity\)|\.\.\.|\[\.\.\.\]")
_BLOCK = re.compile(r"^ {2}\S.*\n(?:(?: {4}.*)?\n){0,4}? {4}\d+ *$", re.MULTILINE)

# The end of a very deep first stack is not in the first bytes.
_BEGUN = re.compile(
    r'^Tracing \d+ functions? for ".*"\.\.\. Hit Ctrl-C to end\.\s*\n(?:\d\d:\d\d:\d\d\n)? {2}\S', re.MULTILINE
)

_VALUE_TYPES = (ValueType("calls", "calls", "flow", "Calls as counted by stackcount"),)


def matches(head: bytes) -> bool:
    text = head_text(head)
    return _BLOCK.search(text) is not None or _BEGUN.search(text) is not None


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    return read_by_line(_Text(reading), steps, reading.limits)


def _meaning(line: str) -> tuple[str, str]:
    """What a line is, and its text."""
    if count := _COUNT.fullmatch(line):
        return "count", count[1]
    if process := _PROCESS.fullmatch(line):
        return "process", _BYTES.sub(r"\2", process[1])
    if _DELIMITER.fullmatch(line):
        return "frame", "--"
    if frame := _FRAME.fullmatch(line):
        return "frame", _OFFSET.sub("", _BYTES.sub(r"\2", frame[1]))
    if _BANNER.fullmatch(line):
        return "banner", ""
    return ("chatter" if not line.strip() or _CHATTER.fullmatch(line.strip()) else "odd"), ""


class _Text:
    def __init__(self, reading: Reading) -> None:
        self._meanings = Meanings(_meaning)
        self._limits = reading.limits
        self._sums = StackSums(_VALUE_TYPES, self._limits)
        self._has_begun = False
        self._frames: list[str] = []  # leaf first
        self._process: list[str] = []

    def take(self, number: int, line: str) -> None:
        kind, text = self._meanings[line]
        if kind == "frame":
            self._frames.append(text)
        elif kind == "count":
            self._end(number, int(text))
        elif kind == "process":
            self._process = [text]
        elif kind == "banner":
            self._begin()
        elif kind == "odd":
            self._sums.profile.skip(number, line, "it is neither a frame nor a count")

    def finish(self) -> Profile:
        return self._sums.finish()

    def _begin(self) -> None:
        """With --debug, a whole program stands before this line: none of it is a frame."""
        self._frames, self._process = [], []
        if not self._has_begun:
            self._sums, self._has_begun = StackSums(_VALUE_TYPES, self._limits), True

    def _end(self, number: int, count: int) -> None:
        stack = [*self._process, *reversed(self._frames)]
        self._frames, self._process = [], []
        if stack:
            self._sums.add(stack, [count], number)
        else:
            self._sums.profile.skip(number, f"{count}", "a count without a stack")
