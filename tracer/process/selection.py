"""A selector to the processes that it means on this host, each with its start time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePath

from tracer.process.cgroups import container_of, directories_of, is_in_unit, memberships, pids_in
from tracer.process.namespaces import elsewhere
from tracer.process.target import PROC, Target, TargetError, parse_status, read_status, refuse_untraceable
from tracer.selector import MAX_SELECTED, Selector

_DELETED = " (deleted)"


@dataclass(frozen=True, slots=True)
class Found:
    """`start_time` is in clock ticks since boot: with the pid it names this process and no later one."""

    pid: int
    start_time: int
    command: str

    @property
    def directory(self) -> Path:
        return PROC / str(self.pid)

    def has_exited(self) -> bool:
        now = found_at(self.pid)
        return now is None or now.start_time != self.start_time


def select(selector: Selector, *, own_root: int = 0) -> list[Found]:
    """By rising pid, 1 to MAX_SELECTED; TargetError says why there is nothing to record.

    Memflame's own processes are left out, or refused if chosen by their pids.
    """
    found = _by_pids(selector) if selector.kind == "pids" else list(_matching(selector))
    own = own_pids(own_root)
    if selector.kind == "pids" and (refused := [known.pid for known in found if known.pid in own]):
        raise TargetError(f"process {refused[0]} is memflame's own, which does not record itself")
    found = [known for known in found if known.pid not in own]
    if not found:
        raise TargetError(f"there is no process {selector.words} on this host")
    if len(found) > MAX_SELECTED:
        raise TargetError(f"{len(found)} processes are {selector.words}, the limit of a run is {MAX_SELECTED}")
    return found


def own_pids(own_root: int = 0) -> set[int]:
    """This process, or an agent with all that it started: recording those would record the recording."""
    return descendants([own_root]) if own_root else {os.getpid()}


def descendants(roots: Iterable[int]) -> set[int]:
    """Pids of processes and of all that they started, themselves included."""
    children: dict[int, list[int]] = {}
    for pid in all_pids():
        if parent := _parent(pid):
            children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    pending = list(roots)
    while pending:
        pid = pending.pop()
        if pid not in found:
            found.add(pid)
            pending += children.get(pid, ())
    return found


def all_pids() -> list[int]:
    return sorted(int(path.name) for path in PROC.iterdir() if path.name.isdigit())


def found_at(pid: int) -> Found | None:
    """The process with this pid, None if it can't be recorded."""
    try:
        status = read_status(pid)
        refuse_untraceable(pid, status, 0)
    except (TargetError, OSError):
        return None
    return Found(pid, status.start_time, status.command)


def _by_pids(selector: Selector) -> list[Found]:
    found: list[Found] = []
    for pid, start_time in sorted(selector.pids.items()):
        with closing(_target(pid, start_time)) as target:
            found.append(Found(pid, target.start_time, target.command))
    return found


def _target(pid: int, start_time: int) -> Target:
    try:
        return Target(pid, start_time=start_time)
    except TargetError as error:
        known = "" if (PROC / str(pid)).exists() else elsewhere(pid)
        raise TargetError(f"{error}; {known}" if known else str(error)) from None


def _matching(selector: Selector) -> Iterator[Found]:
    for pid in _MATCHES[selector.kind](selector.text):
        if found := found_at(pid):
            yield found


def _named(name: str) -> list[int]:
    return [pid for pid in all_pids() if name in _names(pid)]


def _names(pid: int) -> tuple[str, ...]:
    """The command, which a program can set and the kernel cuts at 15 bytes, and the name of the program's file."""
    directory = PROC / str(pid)
    try:
        command = parse_status((directory / "stat").read_text(errors="replace")).command
        program = os.readlink(directory / "exe").removesuffix(_DELETED)  # noqa: PTH115 - a target's path
    except OSError:
        return ()
    return command, PurePath(program).name


def _in_cgroup(path: str) -> list[int]:
    directories = directories_of(path)
    if not directories:
        raise TargetError(f"there is no control group {path} on this host")
    return sorted({pid for directory in directories for pid in pids_in(directory)})


def _in_unit(unit: str) -> list[int]:
    return [pid for pid in all_pids() if is_in_unit(memberships(pid), unit)]


def _in_container(start: str) -> list[int]:
    by_id: dict[str, list[int]] = {}
    for pid in all_pids():
        container = container_of(memberships(pid))
        if container.startswith(start):
            by_id.setdefault(container, []).append(pid)
    if len(by_id) > 1:
        raise TargetError(f"{len(by_id)} containers have an id that begins with {start}: give more digits of it")
    return next(iter(by_id.values()), [])


_MATCHES: dict[str, Callable[[str], list[int]]] = {
    "name": _named, "cgroup": _in_cgroup, "unit": _in_unit, "container": _in_container,
}  # fmt: skip


def _parent(pid: int) -> int:
    """0 once it has ended."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return 0
    return int(text[text.rindex(")") + 2 :].split()[1])
