"""A word for which processes a run records to its kind and text, and back; what it selects only the host knows.

pids:4711@8812045,4712     process numbers, each with its start time in clock ticks where that is known
name:worker                the command's or the program file's name
cgroup:/system.slice/web   a control group and all below it
unit:nginx.service         a unit of systemd
container:4f0c6bd1a2e7     a container by its id, 12 digits of it or more
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

KINDS = ("pids", "name", "cgroup", "unit", "container")
MAX_SELECTED = 64  # processes of one run: each has its own probes, and its own table of mappings to watch
_MAX_CHARACTERS = 4096
_CONTAINER_ID = re.compile(r"[0-9a-f]{12,64}")
_PID = re.compile(r"([0-9]{1,10})(?:@([0-9]{1,20}))?")


class BadSelector(ValueError):
    """The text selects nothing that can be; its message is for the person who wrote it."""


@dataclass(frozen=True, slots=True)
class Selector:
    """Made by `of` or `parse`, which check it."""

    kind: str
    text: str

    @classmethod
    def of(cls, kind: str, text: str) -> Selector:
        if kind not in KINDS:
            raise BadSelector(f"processes can't be selected by {kind!r}, only by {', '.join(KINDS)}")
        text = text.strip()
        if not text or len(text) > _MAX_CHARACTERS or not text.isprintable():
            raise BadSelector(f"{kind} is {text[:100]!r}, it must be 1 to {_MAX_CHARACTERS:,} printable characters")
        return cls(kind, _CHECKED[kind](text) if kind in _CHECKED else text)

    @classmethod
    def parse(cls, target: str) -> Selector:
        kind, separator, text = target.partition(":")
        if not separator:
            raise BadSelector(f"target is {target[:100]!r}, expected a kind and a text such as name:worker")
        return cls.of(kind, text)

    @classmethod
    def of_pids(cls, start_time_by_pid: Iterable[tuple[int, int]]) -> Selector:
        """Of (pid, start time) pairs; a start time of 0 is not known."""
        words = (f"{pid}@{start_time}" if start_time else str(pid) for pid, start_time in start_time_by_pid)
        return cls.of("pids", ",".join(words))

    def __str__(self) -> str:
        return f"{self.kind}:{self.text}"

    @property
    def pids(self) -> dict[int, int]:
        """Start time of each pid, 0 where it is not known; empty unless the kind is `pids`."""
        return dict(_pids(self.text)) if self.kind == "pids" else {}

    @property
    def words(self) -> str:
        """As it stands behind "processes": `named worker`, `4711, 4712`."""
        if self.kind == "pids":
            return ", ".join(str(pid) for pid in self.pids)
        return f"{_WORDS[self.kind]} {self.text}"


_WORDS = {"name": "named", "cgroup": "of the control group", "unit": "of the unit", "container": "of the container"}


def _pids(text: str) -> list[tuple[int, int]]:
    found = [(word, _PID.fullmatch(word.strip())) for word in text.split(",")]
    bad = next((word for word, match in found if match is None or int(match[1]) == 0), None)
    if bad is not None:
        raise BadSelector(f"{bad.strip()!r} is no process number")
    return [(int(match[1]), int(match[2] or 0)) for _, match in found if match]


def _checked_pids(text: str) -> str:
    count = len(dict(_pids(text)))
    if count > MAX_SELECTED:
        raise BadSelector(f"these are {count} processes, the limit of a run is {MAX_SELECTED}")
    return text


def _checked_unit(text: str) -> str:
    if "/" in text:
        raise BadSelector(f"unit is {text!r}, expected a name such as nginx.service, not a path")
    return text if "." in text else f"{text}.service"  # as systemctl reads it


def _checked_container(text: str) -> str:
    if not _CONTAINER_ID.fullmatch(text):
        raise BadSelector(f"container is {text!r}, expected 12 to 64 digits of its id, of 0-9 and a-f")
    return text


_CHECKED = {"pids": _checked_pids, "unit": _checked_unit, "container": _checked_container}
