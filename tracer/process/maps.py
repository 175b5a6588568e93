"""/proc/PID/maps to mappings: which file is where.

https://man7.org/linux/man-pages/man5/proc_pid_maps.5.html
55d3c0a00000-55d3c0a01000 r-xp 00001000 08:02 173521   /usr/bin/search-api
7f1c24000000-7f1c24021000 rw-p 00000000 00:00 0
7ffd5a1f2000-7ffd5a1f4000 r-xp 00000000 00:00 0        [vdso]
"""

from __future__ import annotations

import os
from dataclasses import dataclass

_DELETED = " (deleted)"


@dataclass(frozen=True, slots=True)
class Mapping:
    """One line of the table; `path` is as the process sees it, or a name in brackets, or empty."""

    start: int
    end: int
    permissions: str
    offset: int
    device: tuple[int, int]
    inode: int
    path: str
    is_deleted: bool = False

    @property
    def file_id(self) -> tuple[int, int, int]:
        """Device and inode: equal for all mappings of one file."""
        return (*self.device, self.inode)

    @property
    def module(self) -> str:
        """The name that unresolved frames carry."""
        return self.path if self.path.startswith("[") else os.path.basename(self.path)  # noqa: PTH119 - a target's path


def parse_maps(text: str) -> list[Mapping]:
    return [parse_maps_line(line) for line in text.splitlines()]


def parse_maps_line(line: str) -> Mapping:
    span, permissions, offset, device, inode, *rest = line.split(maxsplit=5)
    start, _, end = span.partition("-")
    major, _, minor = device.partition(":")
    # The kernel writes a newline in a name as \012 and nothing else; a name may well end in spaces.
    path = rest[0].replace("\\012", "\n") if rest else ""
    is_deleted = path.endswith(_DELETED)
    return Mapping(
        int(start, 16), int(end, 16), permissions, int(offset, 16), (int(major, 16), int(minor, 16)), int(inode),
        path.removesuffix(_DELETED), is_deleted,
    )  # fmt: skip


def executable_mappings(text: str) -> list[Mapping]:
    """Those with code, without reading the others: a process may have 65,000 mappings, and code in few."""
    return [parse_maps_line(line) for line in text.splitlines() if "x" in line.split(" ", 2)[1]]
