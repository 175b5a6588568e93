"""What `pidstat -r` prints, in any of its forms, to a table of one row a line of a task's memory.

https://man7.org/linux/man-pages/man1/pidstat.1.html

Linux 6.1.0 (web-1)     11/29/26        _x86_64_        (2 CPU)

13:16:03      UID       PID  minflt/s  majflt/s     VSZ     RSS   %MEM  Command
13:16:04        0     18527   3424.00      0.00  114016   22216   0.09  search api
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tracer.procfs.table import Cell, Column, Table
from tracer.profile.formats.text import numbered_lines
from tracer.profile.model import Limits

KEYS = ("time", "user", "pid", "tid", "command")
COLUMNS = {
    "minflt/s": Column("minflt/s", "faults/s", "flow"),
    "majflt/s": Column("majflt/s", "faults/s", "flow"),
    "VSZ": Column("vsz", "bytes", "level"),
    "RSS": Column("rss", "bytes", "level"),
    "%MEM": Column("%mem", "percent", "level"),
    "minflt-nr": Column("minflt-nr", "faults", "flow"),
    "majflt-nr": Column("majflt-nr", "faults", "flow"),
    "StkSize": Column("stksize", "bytes", "level"),
    "StkRef": Column("stkref", "bytes", "level"),
}
EMPTY = "pidstat printed no row of memory: run it with -r, for processes that there are"
_MARKS = ("minflt/s", "minflt-nr")  # of a block about memory
_TASKS = ("UID", "USER", "PID", "TGID", "TID")
_BANNER = re.compile(r"\S+ \S+ \(.*\)\s.*\(\d+ CPU\)\s*")
_NUMBER = re.compile(r"(-?\d+(?:[.,]\d+)?)([BkMGTP%]?)")
_SUFFIXES = "BkMGTP"
_THREAD = "|__"
_ROUNDED = "The sizes are rounded to one decimal, as --human prints them."


def read(steps: Iterator[bytes], limits: Limits) -> Table:
    text = _Text()
    for number, line in numbered_lines(steps, limits):
        text.take(number, line)
    return text.finish()


class _Text:
    """Blocks about other things than memory are passed over; what a column holds is told by its head."""

    def __init__(self) -> None:
        self._table = Table("pidstat", KEYS)
        self._names: list[str] | None = None  # between time and command, of the block that is read
        self._places: list[int] = []  # of those names in the table, -1 for none of its columns
        self._process: Cell = None  # the threads of which are read

    def take(self, number: int, line: str) -> None:
        words = line.split()
        if not words or _BANNER.fullmatch(line):
            return
        if words[-1] == "Command" and any(name in words for name in _TASKS):
            self._begin(words)
        elif self._names is not None and not words[0].endswith(":"):  # `Average:`, in any language, is no moment
            self._take_row(number, line, self._names)

    def finish(self) -> Table:
        return self._table.finish(EMPTY)

    def _begin(self, words: list[str]) -> None:
        first = next(place for place, word in enumerate(words) if word in _TASKS)
        names = words[first:-1]
        is_memory = any(mark in names for mark in _MARKS) and not words[0].endswith(":")
        self._names = names if is_memory else None
        if is_memory:
            table = self._table
            self._places = [table.position(COLUMNS[name]) if name in COLUMNS else -1 for name in names]

    def _take_row(self, number: int, line: str, names: list[str]) -> None:
        words = line.split(None, 2)
        clock = 2 if len(words) > 1 and words[1] in ("AM", "PM") else 1
        words = line.split(None, clock + len(names))
        if len(words) <= clock + len(names):
            self._table.skip(number, line, "it has fewer values than its head has names")
            return
        texts = words[clock:-1]
        values = self._values(texts)
        if values is None:
            self._table.skip(number, line, "a value of it is no number")
            return
        task = dict(zip(names, texts, strict=True))
        self._table.add(self._keys(" ".join(words[:clock]), task, words[-1].rstrip()), values)

    def _values(self, texts: Sequence[str]) -> list[Cell] | None:
        values: list[Cell] = [None] * len(self._table.columns)
        for place, text in zip(self._places, texts, strict=True):
            if place < 0:
                continue
            found = _NUMBER.fullmatch(text)
            if found is None:
                return None
            values[place] = self._amount(found, self._table.columns[place])
        return values

    def _amount(self, found: re.Match[str], column: Column) -> int | float:
        """Sizes are kB, or have the unit that --human gives them."""
        number, suffix = float(found[1].replace(",", ".")), found[2]
        if column.unit != "bytes":
            return number if column.unit != "faults" else int(number)
        if not suffix:
            return int(number) * 1024
        if _ROUNDED not in self._table.notes:
            self._table.notes.append(_ROUNDED)
        return round(number * 1024.0 ** _SUFFIXES.find(suffix)) if suffix in _SUFFIXES else int(number)

    def _keys(self, time: str, task: dict[str, str], command: str) -> tuple[Cell, ...]:
        """A thread stands below its process, and the memory of its row is that of the process."""
        user = task.get("USER", task.get("UID"))
        process, thread = task.get("TGID", task.get("PID")), task.get("TID", "-")
        if process not in (None, "-"):
            self._process = _whole(process)
        return time, user, self._process, _whole(thread), command.removeprefix(_THREAD)


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < 19 else None
