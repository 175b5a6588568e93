"""Loss records of valgrind's memcheck to what was lost or still held, by stack: the importer.

https://valgrind.org/docs/manual/mc-manual.html#mc-manual.leaks

==4711== 72 (24 direct, 48 indirect) bytes in 1 blocks are definitely lost in loss record 3 of 3
==4711==    at 0x4848899: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==4711==    by 0x10916A: load_index (index.c:17)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.profile.formats.loss_reports import LossReports
from tracer.profile.formats.moments import moments_by_line, shown_by_default
from tracer.profile.formats.reading import Moment, Reading
from tracer.profile.formats.text import head_text
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
_LINE = re.compile(r"==(\d+)== ?(.*)")
_END = "LEAK SUMMARY:"  # of each leak check: a program can ask for one in between
_RECORD = re.compile(
    r"([\d,]+)(?: \(([\d,]+) direct, [\d,]+ indirect\))? bytes in ([\d,]+) blocks are "
    r"(definitely lost|indirectly lost|possibly lost|still reachable) in loss record [\d,]+ of [\d,]+"
)
_FRAME = re.compile(r" +(?:at|by) (0x.*?)\s*")
_VALUE_TYPES = tuple(
    ValueType(f"{kind.replace(' ', '_')}_{unit}", unit, "level", f"{words} {meaning} at the leak check")
    for kind, meaning in _KINDS.items()
    for unit, words in (("bytes", "Bytes of blocks"), ("objects", "Blocks"))
)
_COLUMN_BY_KIND = {kind: 2 * place for place, kind in enumerate(_KINDS)}


def matches(head: bytes) -> bool:
    text = head_text(head)
    lines = filter(None, map(_LINE.fullmatch, text.splitlines()))
    return "Memcheck, a memory error detector" in text or any(_RECORD.fullmatch(line[2]) for line in lines)


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    """The last report of each process."""
    return shown_by_default(read_moments(steps, reading))


def read_moments(steps: Iterator[bytes], reading: Reading) -> Iterator[Moment]:
    return moments_by_line(_Text(reading), steps, reading.limits)


class _Text:
    """Of all that valgrind prints only loss records are read; errors and summaries are no memory that is held."""

    def __init__(self, reading: Reading) -> None:
        self._reports = LossReports(_VALUE_TYPES, reading.limits)
        self._ended: set[str] = set()  # processes whose last leak check is over

    def take(self, number: int, line: str) -> Moment | None:
        own = _LINE.fullmatch(line.rstrip())
        if own is None:
            return None  # the program's own output
        process, text = own.groups()
        frame = _FRAME.fullmatch(text) if self._reports.is_open else None
        if frame is not None:
            self._reports.add_frame(frame_name(frame[1]) or frame[1])
            return None
        self._reports.close()
        if text == _END:
            self._ended.add(process)
        elif record := _RECORD.fullmatch(text):
            return self._take_record(process, number, record)
        return None

    def _take_record(self, process: str, number: int, record: re.Match[str]) -> Moment | None:
        is_again = process in self._ended
        self._ended.discard(process)
        ended = self._reports.begin(process) if is_again else None
        self._reports.open(process, number, _values(record))
        return ended

    def finish(self) -> Moment:
        return self._reports.finish("no loss record with its stack is there: run valgrind with --leak-check=full")


def _values(record: re.Match[str]) -> list[int]:
    """Indirect bytes have records of their own: here they would count twice."""
    size, direct, blocks, kind = record.groups()
    values = [0] * len(_VALUE_TYPES)
    column = _COLUMN_BY_KIND[kind]
    values[column], values[column + 1] = _number(direct or size), _number(blocks)
    return values


def _number(text: str) -> int:
    return int(text.replace(",", ""))
