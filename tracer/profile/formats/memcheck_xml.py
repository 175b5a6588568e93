"""Loss records of valgrind's memcheck, written as XML, to what was lost or still held, by stack: the importer.

https://valgrind.org/docs/manual/manual-core.html, --xml=yes, which writes one element a line

    <text>96 (48 direct, 48 indirect) bytes in 1 blocks are definitely lost in loss record 4 of 5</text>
      <fn>leak_list()</fn>
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import unescape

from tracer.profile.formats.loss_reports import LossReports
from tracer.profile.formats.memcheck import NO_RECORD, RECORD, VALUE_TYPES, values_of
from tracer.profile.formats.moments import moments_by_line, shown_by_default
from tracer.profile.formats.reading import Moment, Reading
from tracer.profile.formats.text import head_text
from tracer.profile.model import Profile

NAME = "memcheck_xml"
TITLE = "valgrind memcheck's XML"

_ROOT = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?<valgrindoutput>")
_VALUE = re.compile(r"\s*<(\w+)>(.*)</\1>\s*")
_TAG = re.compile(r"\s*<(/?\w+)>\s*")
_RECORD_NUMBER = re.compile(r"loss record ([\d,]+) of")
_QUOTES = {"&quot;": '"', "&apos;": "'"}


def matches(head: bytes) -> bool:
    return _ROOT.match(head_text(head)) is not None


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    """The last leak check."""
    return shown_by_default(read_moments(steps, reading))


def read_moments(steps: Iterator[bytes], reading: Reading) -> Iterator[Moment]:
    return moments_by_line(_Text(reading), steps, reading.limits)


class _Text:
    """Of all errors only loss records are read: the others are no memory that is held."""

    def __init__(self, reading: Reading) -> None:
        self._reports = LossReports(VALUE_TYPES, reading.limits)
        self._process = ""
        self._last_record = 0  # of the leak check that is read
        self._frame: dict[str, str] | None = None
        self._is_over = False

    def take(self, number: int, line: str) -> Moment | None:
        if value := _VALUE.fullmatch(line):
            return self._take_value(number, value[1], unescape(value[2], _QUOTES))
        if tag := _TAG.fullmatch(line):
            self._take_tag(tag[1])
        elif self._is_over and line.strip():
            self._reports.skipped.skip(number, line, "it stands behind the end of the XML")
        return None

    def finish(self) -> Moment:
        return self._reports.finish(NO_RECORD)

    def _take_value(self, number: int, name: str, text: str) -> Moment | None:
        if self._frame is not None:
            self._frame[name] = text
        elif name == "pid":
            self._process = text
        elif name == "text" and (record := RECORD.fullmatch(text)):
            return self._take_record(number, text, record)
        return None

    def _take_tag(self, name: str) -> None:
        if name == "frame" and self._reports.is_open:
            self._frame = {}
        elif name == "/frame" and self._frame is not None:
            self._reports.add_frame(_name(self._frame))
            self._frame = None
        elif name == "/error":
            self._reports.close()
        elif name.endswith("valgrindoutput"):
            self._is_over = name.startswith("/")

    def _take_record(self, number: int, text: str, record: re.Match[str]) -> Moment | None:
        """Records are counted from 1 on in each leak check, of which a program can ask for several."""
        place = _RECORD_NUMBER.search(text)
        found = int(place[1].replace(",", "")) if place else 0
        ended = self._reports.begin(self._process) if found <= self._last_record else None
        self._last_record = found
        self._reports.open(self._process, number, values_of(record))
        return ended


def _name(frame: dict[str, str]) -> str:
    """The function; of one without a name, its file, as in memcheck's text."""
    file = frame.get("obj", "").rpartition("/")[2]
    return frame.get("fn") or (f"[{file}]" if file else "[unknown]")
