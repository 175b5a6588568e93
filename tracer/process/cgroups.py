"""Control groups: which ones a process is in, and which processes are in one.

/proc/PID/cgroup, https://man7.org/linux/man-pages/man7/cgroups.7.html, on a host with both versions:
4:memory:/machine.slice/libpod-4f0c….scope
1:name=systemd:/machine.slice/libpod-4f0c….scope
0::/machine.slice/libpod-4f0c….scope
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tracer.process.target import PROC

# Engines name a container's group by its id, some with a word before it and .scope behind: docker-4f0c….scope,
# cri-containerd-4f0c….scope, pod….slice:cri-containerd:4f0c…, crio-4f0c….scope, libpod-4f0c….scope, /docker/4f0c….
_CONTAINER = re.compile(r"(?:(?P<engine>.*)[-:_])?(?P<id>[0-9a-f]{64})(?:\.scope)?")
_MONITOR = "conmon"  # crio-conmon-… and libpod-conmon-… hold the container's watcher, not the container
_UNIT_HIERARCHIES = ("", "name=systemd")  # version 2, and the one of version 1 that systemd keeps


@dataclass(frozen=True, slots=True)
class Membership:
    """One line of /proc/PID/cgroup; version 2 has no controllers."""

    controllers: str
    path: str


def memberships(pid: int) -> list[Membership]:
    """Empty once the process has ended."""
    try:
        text = (PROC / str(pid) / "cgroup").read_text(errors="surrogateescape")
    except OSError:
        return []
    return parse_memberships(text)


def parse_memberships(text: str) -> list[Membership]:
    fields = [line.split(":", 2) for line in text.splitlines()]
    return [Membership(controllers, path) for _, controllers, path in (row for row in fields if len(row) == 3)]


def is_in_unit(known: list[Membership], unit: str) -> bool:
    """Whether the unit or one inside of it holds the process: a user's manager holds all services of the user."""
    paths = (line.path for line in known if line.controllers in _UNIT_HIERARCHIES)
    return any(unit in path.split("/") for path in paths)


def container_of(known: list[Membership]) -> str:
    """The id of the innermost container, all 64 digits; empty for a process of the host."""
    for line in known:
        for part in reversed(line.path.split("/")):
            match = _CONTAINER.fullmatch(part)
            if match:
                return "" if _MONITOR in (match["engine"] or "") else match["id"]
    return ""


def directories_of(path: str, mounts_text: str | None = None) -> list[Path]:
    """Where a control group is: given as a directory, or as a path of version 2, else of each version 1 hierarchy."""
    if Path(path).is_dir() and (Path(path) / "cgroup.procs").exists():
        return [Path(path)]
    mounts = _mounts(mounts_text if mounts_text is not None else (PROC / "self/mountinfo").read_text())
    for version in ("cgroup2", "cgroup"):
        places = [place / path.strip("/") for kind, place in mounts if kind == version]
        if found := [place for place in places if place.is_dir()]:
            return found
    return []


def pids_in(directory: Path) -> Iterator[int]:
    """Of the group and of all below it, as far as this pid namespace shows them."""
    for place, _, files in os.walk(directory):
        if "cgroup.procs" in files:
            yield from (pid for pid in _listed(Path(place) / "cgroup.procs") if pid)


def _listed(path: Path) -> list[int]:
    try:
        return [int(line) for line in path.read_text().split()]
    except OSError:  # a threaded group lists no processes: those are at its root, or it has just gone away
        return []


def _mounts(text: str) -> list[tuple[str, Path]]:
    """File system type and place of each mount; fields of /proc/PID/mountinfo, proc(5), with a dash before the type."""
    rows = [line.partition(" - ") for line in text.splitlines()]
    return [(after.split()[0], Path(before.split()[4])) for before, _, after in rows if after]
