"""Leak reports of LeakSanitizer and AddressSanitizer to what was lost, by stack: the importer.

https://clang.llvm.org/docs/LeakSanitizer.html

==4711==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 4096 byte(s) in 1 object(s) allocated from:
    #0 0x7f94c3a22045 in malloc (/usr/lib/libasan.so.8+0xb5fcf)
    #1 0x565508b2ecde in load_index /srv/index.c:17:5
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.profile.formats.loss_reports import LossReports
from tracer.profile.formats.moments import moments_by_line, shown_by_default
from tracer.profile.formats.reading import Moment, Reading
from tracer.profile.formats.text import Meanings, head_text
from tracer.profile.model import Profile, ValueType
from tracer.profile.places import MOST_TOLD

NAME = "sanitizer"
TITLE = "LeakSanitizer report"

_LEAK = re.compile(r"(Direct|Indirect) leak of (\d+) byte\(s\) in (\d+) object\(s\) allocated from:\s*")
_REPORT = re.compile(r"==(\d+)==ERROR: LeakSanitizer")
_FRAME = re.compile(r"(?:\s+#\d+)? 0x[0-9a-f]+\s+(.*?)\s*")
_MODULE = re.compile(r"(?:in )?(.*?) ?\(([^()]*?)\+(0x[0-9a-f]+)\)(?: \(BuildId: ([0-9a-f]+)\))?")
_SOURCE = re.compile(r"in (.*?) \S+?(?::\d+){1,2}")
_CHATTER = re.compile(
    r"=+|==\d+==.*|SUMMARY: .*|-+|Objects leaked above:|0x[0-9a-f]+ \(\d+ bytes\)|Suppressions used:.*"
)
_VALUE_TYPES = (
    ValueType("leaked_bytes", "bytes", "level", "Bytes that nothing pointed to any more at the leak check"),
    ValueType("leaked_objects", "objects", "level", "Objects that nothing pointed to any more at the leak check"),
    ValueType("direct_bytes", "bytes", "level", "Those of the leaked bytes that no other leaked object points to"),
    ValueType("indirect_bytes", "bytes", "level", "Those of the leaked bytes that only leaked objects point to"),
)


def matches(head: bytes) -> bool:
    text = head_text(head)
    return "ERROR: LeakSanitizer" in text or any(map(_LEAK.fullmatch, text.splitlines()))


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    """The last report of each process."""
    return shown_by_default(read_moments(steps, reading))


def read_moments(steps: Iterator[bytes], reading: Reading) -> Iterator[Moment]:
    return moments_by_line(_Text(reading), steps, reading.limits)


class _Text:
    """What the program itself printed may stand between: it is no part of a report."""

    def __init__(self, reading: Reading) -> None:
        self._reports = LossReports(_VALUE_TYPES, reading.limits)
        self._process = ""
        self._meanings = Meanings(self._meaning)
        self._paths: dict[str, str] = {}  # by file name, of those that places are in
        self._build_ids: dict[str, str] = {}

    def take(self, number: int, line: str) -> Moment | None:
        # Without its number, a frame is the same line in all stacks.
        kind, text = self._meanings[line[line.find(" 0x") :] if line.startswith("    #") else line]
        if kind == "report":
            self._process = text
            return self._told(self._reports.begin(text))
        if kind == "frame" and self._reports.is_open:
            self._reports.add_frame(text)
        elif kind == "leak":
            self._open(number, *text.split())
        elif kind == "blank":
            self._reports.close()
        elif kind != "chatter":
            self._reports.skipped.skip(number, line, "it is of no leak")
        return None

    def _open(self, number: int, kind: str, size_text: str, objects: str) -> None:
        size, is_direct = int(size_text), kind == "Direct"
        self._reports.open(self._process, number, (size, int(objects), size * is_direct, size * (not is_direct)))

    def _meaning(self, line: str) -> tuple[str, str]:
        """What a line is, and the process of a report, the numbers of a leak, or the name of a frame."""
        if frame := _FRAME.fullmatch(line):
            return "frame", self._name(frame[1])
        if report := _REPORT.match(line):
            return "report", report[1]
        if leak := _LEAK.fullmatch(line):
            return "leak", " ".join(leak.groups())
        if not line.strip():
            return "blank", ""
        return ("chatter" if _CHATTER.fullmatch(line.strip()) else "odd"), ""

    def finish(self) -> Moment:
        moment = self._reports.finish("the report holds no leak")
        self._told(moment)
        return moment

    def _told(self, moment: Moment | None) -> Moment | None:
        if moment is not None and self._paths:
            told = {"modules": dict(self._paths), "build_ids": dict(self._build_ids), "offsets": "image"}
            profile = moment.profile
            profile.capture = {**profile.capture, **{key: found for key, found in told.items() if found}}
        return moment

    def _name(self, text: str) -> str:
        """The function, whole; of one without a name, its file and the place in it, from where it was loaded."""
        if module := _MODULE.fullmatch(text):
            return module[1] or self._place(*module.groups()[1:])
        source = _SOURCE.fullmatch(text)
        return source[1] if source else text.removeprefix("in ")

    def _place(self, path: str, offset: str, build_id: str | None) -> str:
        file = path.rpartition("/")[2]
        if len(self._paths) < MOST_TOLD:
            self._paths[file] = path
            if build_id:
                self._build_ids[file] = build_id
        return f"{file}+{offset}"
