"""DTrace aggregations by stack to their values: the importer.

https://illumos.org/books/dtrace/chp-aggs.html

CPU     ID                    FUNCTION:NAME
  0  64091                        :tick-60s

              libc.so.1`malloc+0x2c
              search-api`load_index+0x41
                4096
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.profile.folded import PLAIN_VALUE
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import Meanings, head_text, read_by_line
from tracer.profile.model import Profile

NAME = "dtrace"
TITLE = "DTrace aggregations"

_COUNT = re.compile(r"\s+(-?\d+)\s*")
_FIRING = re.compile(r"\s+\d+\s+\d+\s+\S*:\S*.*")  # processor, number and name of a probe: of the preface
_DISTRIBUTION = re.compile(r"\s+value +-+ Distribution -+ count\s*")
_BAR = re.compile(r"\s*(?:-?\d+|[<>]=? ?-?\d+) \|[@ \t]*+\d+\s*")
_MARK = re.compile(rf"CPU +ID +FUNCTION:NAME *|{_DISTRIBUTION.pattern}")
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")
_BLOCK = re.compile(r"^[^\S\n]*\n[ \t]+(?:\S+`\S|0x[0-9a-f]+ *$)", re.MULTILINE)


def matches(head: bytes) -> bool:
    text = head_text(head)
    return _BLOCK.search(text) is not None or any(map(_MARK.fullmatch, text.splitlines()))


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    return read_by_line(_Text(reading), steps, reading.limits)


def _meaning(line: str) -> tuple[str, tuple[str, ...]]:
    """What a line is, and a value's text or the names of a frame."""
    if not line.strip():
        return "blank", ()
    if count := _COUNT.fullmatch(line):
        return "value", (count[1],)
    if _DISTRIBUTION.fullmatch(line):
        return "distribution", ()
    if _BAR.fullmatch(line) or _FIRING.fullmatch(line):
        return "chatter", ()
    return ("frame", tuple(_names(line.strip()))) if line[0].isspace() else ("odd", ())


class _Text:
    """Up to the first blank line it is preface: messages of the script, and which probe fired."""

    def __init__(self, reading: Reading) -> None:
        self._sums = StackSums([reading.resolve(PLAIN_VALUE, None)], reading.limits)
        self._frames: list[str] = []  # leaf first
        self._is_preface = True
        self._meanings = Meanings(_meaning)

    def take(self, number: int, line: str) -> None:
        kind, texts = self._meanings[line]
        if kind == "frame" and not self._is_preface:
            self._frames.extend(texts)
        elif kind == "blank":
            self._is_preface = False  # inside of a stack it stands between what the kernel and the program called
        elif kind == "value":
            self._end(number, line, int(texts[0]))
        elif kind == "distribution":
            self._skip(number, line, "a distribution has no one value")
        elif kind == "odd" and not self._is_preface:
            self._skip(number, line, "it is neither a frame nor a value")

    def finish(self) -> Profile:
        return self._sums.finish()

    def _end(self, number: int, line: str, value: int) -> None:
        if not self._frames:
            self._skip(number, line, "a value without a stack")
            return
        self._sums.add([*reversed(self._frames)], [value], number)
        self._frames = []

    def _skip(self, number: int, line: str, reason: str) -> None:
        self._sums.profile.skip(number, line, reason)
        self._frames = []


def _names(frame: str) -> list[str]:
    """Leaf first; `outer->inner` of Java are two, the second compiled into the first."""
    outer, *inlined = _OFFSET.sub("", frame).split("->")
    return [*(f"{name}_[i]" for name in reversed(inlined)), outer]
