"""The key of a bpftrace map to a stack: its frames, and what else stands in the key as root."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PERF_FRAME = re.compile(r"\s+[0-9a-f]+ (\S.*?)(?:\+\d+)? \((.*)\)")
_OFFSET = re.compile(r"\+\d+$")
_KNOWN_LINES = 200_000
_KERNEL_ROOT = re.compile(r"entry_|ret_from_fork|asm_|do_syscall|secondary_startup|el[01]|0xffff[0-9a-f]{12}$")


class Names(dict[str, str]):
    """Of a frame by its line: those of a map are in many of its stacks."""

    def __missing__(self, line: str) -> str:
        name = self[line] = _name(line)
        if len(self) > _KNOWN_LINES:
            self.clear()
        return name


class Key:
    """Taken line by line: parts are joined by a comma at the start of a line, since frames hold commas too."""

    def __init__(self, first: str, names: Names) -> None:
        self._names = names
        self._labels: list[str] = []
        self._stacks: list[list[str]] = [[]]  # leaf first
        self._add_label(first)

    def take(self, line: str) -> None:
        if line.startswith(","):
            self._stacks.append([])
            self._add_label(line[1:])
        elif line.strip():
            self._stacks[-1].append(self._names[line])

    def stack(self) -> list[str]:
        """Root first; empty if the key has no stack."""
        parts = _user_first([part for part in self._stacks if part])
        frames = [name for part in parts for name in reversed(part)]
        return [*self._labels, *frames] if frames else []

    def _add_label(self, text: str) -> None:
        if label := text.strip().strip(",").strip():
            self._labels.append(label)


def _user_first(parts: Sequence[list[str]]) -> Sequence[list[str]]:
    """What the kernel did is nearer to the leaf, whichever of the two the key names first."""
    if len(parts) == 2 and (_KERNEL_ROOT.match(parts[0][-1]) or not _KERNEL_ROOT.match(parts[1][-1])):
        return [parts[1], parts[0]]
    return parts


def _name(line: str) -> str:
    if perf := _PERF_FRAME.fullmatch(line):
        return perf[1]
    return _OFFSET.sub("", line.strip())
