"""Loss records of valgrind's memcheck to what was lost or still held, by stack: the importer.

https://valgrind.org/docs/manual/mc-manual.html#mc-manual.leaks

==4711== 72 (24 direct, 48 indirect) bytes in 1 blocks are definitely lost in loss record 3 of 3
==4711==    at 0x4848899: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==4711==    by 0x10916A: load_index (index.c:17)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text, read_by_line
from tracer.profile.formats.valgrind_frames import frame_name
from tracer.profile.model import Profile, ValueType

NAME = "memcheck"
TITLE = "valgrind memcheck"

_KINDS = {
    "definitely lost": "that nothing pointed to any more",
    "indirectly lost": "that only lost blocks pointed to",
    "possibly lost": "that only pointers into their middle led to",
    "still reachable": "that the program could still have freed",
}
_LINE = re.compile(r"==\d+== ?(.*)")
_RECORD = re.compile(
    r"([\d,]+)(?: \(([\d,]+) direct, [\d,]+ indirect\))? bytes in ([\d,]+) blocks are "
    r"(definitely lost|indirectly lost|possibly lost|still reachable) in loss record [\d,]+ of [\d,]+"
)
_FRAME = re.compile(r" +(?:at|by) (0x.*?)\s*")
_VALUE_TYPES = tuple(
    ValueType(f"{kind.replace(' ', '_')}_{unit}", unit, "level", f"{words} {meaning} when the program ended")
    for kind, meaning in _KINDS.items()
    for unit, words in (("bytes", "Bytes of blocks"), ("objects", "Blocks"))
)
_COLUMN_BY_KIND = {kind: 2 * place for place, kind in enumerate(_KINDS)}


def matches(head: bytes) -> bool:
    return any(_RECORD.fullmatch(_without_pid(line) or "") for line in head_text(head).splitlines()) or (
        "Memcheck, a memory error detector" in head_text(head)
    )


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    return read_by_line(_Text(reading), steps, reading.limits)


class _Text:
    """Of all that valgrind prints only loss records are read; errors and summaries are no memory that is held."""

    def __init__(self, reading: Reading) -> None:
        self._sums = StackSums(_VALUE_TYPES, reading.limits)
        self._open: tuple[int, list[int]] | None = None  # line, values
        self._frames: list[str] = []  # leaf first

    def take(self, number: int, line: str) -> None:
        text = _without_pid(line)
        if text is None:
            return  # the program's own output
        frame = _FRAME.fullmatch(text) if self._open is not None else None
        if frame is not None:
            self._frames.append(frame_name(frame[1]) or frame[1])
            return
        self._end()
        if record := _RECORD.fullmatch(text):
            self._open = number, _values(record)

    def finish(self) -> Profile:
        self._end()
        return self._sums.finish("no loss record with its stack is there: run valgrind with --leak-check=full")

    def _end(self) -> None:
        if self._open is None:
            return
        line, values = self._open
        self._sums.add([*reversed(self._frames)] or ["[stack not recorded]"], values, line)
        self._open, self._frames = None, []


def _values(record: re.Match[str]) -> list[int]:
    """Indirect bytes have records of their own: here they would count twice."""
    size, direct, blocks, kind = record.groups()
    values = [0] * len(_VALUE_TYPES)
    column = _COLUMN_BY_KIND[kind]
    values[column], values[column + 1] = _number(direct or size), _number(blocks)
    return values


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _without_pid(line: str) -> str | None:
    own = _LINE.fullmatch(line.rstrip())
    return own[1] if own else None
