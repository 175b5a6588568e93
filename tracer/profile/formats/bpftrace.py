"""Maps that bpftrace prints, as text or as JSON, to one value type a map: the importer.

https://github.com/bpftrace/bpftrace/blob/master/man/adoc/bpftrace.adoc

Attaching 2 probes...
@bytes[
    malloc+0
    load_index+41
, search-api, 4711]: 4096
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tracer.profile.formats.bpftrace_keys import Key, Names
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text, numbered_lines
from tracer.profile.model import Profile

NAME = "bpftrace"
TITLE = "bpftrace maps"

_START = re.compile(r"(@\w*)\[(.*)")
_ONE_LINE = re.compile(r"(@\w*)\[(.*)\]: (.*)")
_END = re.compile(r"(|,.*)\]: ?(.*)")
_STATS = re.compile(r"count -?\d+, average -?\d+, total (-?\d+)")
_BAR = re.compile(r"[\[(]\S.*[)\]]\s+\d+ \|[@ ]*\|")
_CHATTER = re.compile(
    r"Attach(?:ing|ed) \d+ probes?(?:\.\.\.|)|\^C|\[\.\.\.\]|\d\d:\d\d:\d\d|WARNING: .*|Lost \d+ events"
)
_LOST = re.compile(r"Lost (\d+) events")
_JSON = re.compile(r'\s*\{"type": ?"(?:attached_probes|map|stats|hist|time|printf|lost_events|value)"')
_NO_NUMBER = "it has no single value: a distribution"


def matches(head: bytes) -> bool:
    text = head_text(head)
    return _JSON.match(text) is not None or any(
        _START.fullmatch(line) and not _ONE_LINE.fullmatch(line) for line in text.splitlines()
    )


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    maps = _Maps(reading)
    text = _Text(maps)
    for number, line in numbered_lines(steps, reading.limits):
        if line.startswith("{"):
            _take_json(maps, number, line)
        else:
            text.take(number, line)
    return maps.finish()


class _Maps:
    """Values by stack, a column for each map: counts and bytes are never added."""

    def __init__(self, reading: Reading) -> None:
        self.sums = StackSums([], reading.limits)
        self.lost = 0
        self.names = Names()
        self._resolve = reading.resolve
        self._column_by_map: dict[str, int] = {}
        self._seen: set[tuple[str, int]] = set()
        self._repeats = 0

    def add(self, name: str, stack: list[str], value: str, number: int) -> None:
        total = _STATS.fullmatch(value.strip())
        text = total[1] if total else value.strip()
        if not stack:
            self.sums.profile.skip(number, f"{name}: {value}", "its key holds no stack")
        elif not re.fullmatch(r"-?\d+", text):
            self.sums.profile.skip(number, f"{name}: {value}", _NO_NUMBER)
        else:
            self._count_repeat(name, stack)
            self.sums.add_to(self._column(name), stack, int(text), number)

    def finish(self) -> Profile:
        """A map printed twice may have been cleared between or not: the file does not say, so the capture does."""
        profile = self.sums.finish()
        profile.capture = {"lost": {"ring_buffer_full": self.lost}} if self.lost else {}
        if self._repeats:
            repeats = f"Stacks printed again and added up: {self._repeats:,}."
            profile.capture["notes"] = [f"{repeats} A map not cleared between comes out too high."]
        return profile

    def _count_repeat(self, name: str, stack: list[str]) -> None:
        key = name, hash(tuple(stack))  # the stacks themselves would take more memory than all else
        self._repeats += key in self._seen
        self._seen.add(key)

    def _column(self, name: str) -> int:
        if name not in self._column_by_map:
            self._column_by_map[name] = self.sums.add_column(self._resolve(name.lstrip("@").lower() or "value", None))
        return self._column_by_map[name]


class _Text:
    def __init__(self, maps: _Maps) -> None:
        self._maps = maps
        self._open: tuple[str, Key] | None = None

    def take(self, number: int, line: str) -> None:
        if self._open is not None:
            if line[:1] in (",", "]"):
                self._take_key(number, line, *self._open)
            else:
                self._open[1].take(line)
        elif whole := _ONE_LINE.fullmatch(line):
            self._take_whole(number, *whole.groups())
        elif start := _START.fullmatch(line):
            self._open = start[1], Key(start[2], self._maps.names)
        elif lost := _LOST.fullmatch(line):
            self._maps.lost += int(lost[1])
        elif line.strip() and not _BAR.fullmatch(line.strip()) and not _CHATTER.fullmatch(line.strip()):
            self._maps.sums.profile.skip(number, line, "it is not of a map with stacks")

    def _take_whole(self, number: int, name: str, key: str, value: str) -> None:
        """A key that begins with a comma had stacks, none of which was taken; others are of a map without stacks."""
        stack = [label.strip() for label in key.split(",") if label.strip()] if key.startswith(",") else []
        self._maps.add(name, [", ".join(stack), "[stack not recorded]"] if stack else [], value, number)

    def _take_key(self, number: int, line: str, name: str, key: Key) -> None:
        end = _END.fullmatch(line)
        if end is None:
            key.take(line)
            return
        if end[1]:
            key.take(end[1])
        self._maps.add(name, key.stack(), end[2], number)
        self._open = None


def _take_json(maps: _Maps, number: int, line: str) -> None:
    """A key can occur twice in one object: its values add up, where a usual parser keeps the last."""
    try:
        event = dict(json.loads(line, object_pairs_hook=list))
        kind, data = event["type"], event["data"]
        entries = [(name, key, value) for name, pairs in data for key, value in pairs] if kind in _KINDS else []
    except (ValueError, TypeError, KeyError, RecursionError):
        maps.sums.profile.skip(number, line, "it is no line of bpftrace's JSON")
        return
    if kind == "lost_events":
        maps.lost += _lost(data)
    for name, key, value in entries:
        maps.add(str(name), _stack(str(key), maps.names), _value(kind, value), number)


_KINDS = ("map", "stats", "hist")


def _stack(text: str, names: Names) -> list[str]:
    first, *lines = text.split("\n")
    key = Key(first, names)
    for line in lines:
        key.take(line)
    return key.stack()


def _value(kind: str, value: Any) -> str:
    if kind == "stats" and isinstance(value, list):
        value = dict(value).get("total", "")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _lost(data: Any) -> int:
    count = dict(data).get("events", 0) if isinstance(data, list) else 0
    return count if isinstance(count, int) else 0
