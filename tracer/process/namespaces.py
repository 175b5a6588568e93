"""Process numbers of containers: what a pid that only means something inside of one is called on the host.

/proc/PID/status of a process in a pid namespace: `NSpid:	4711	12`, outermost first (proc(5)).
"""

from __future__ import annotations

from collections.abc import Iterator

from tracer.process.cgroups import container_of, memberships
from tracer.process.target import PROC

_SHOWN = 4  # every container has a process 1
_ID_CHARACTERS = 12  # as engines print an id


def elsewhere(pid: int) -> str:
    """Which processes have this number in a namespace of their own, as a sentence; empty if none has."""
    inner = list(_with_inner_pid(pid))
    if not inner:
        return ""
    shown = "; ".join(f"{pid} {_place(host_pid)} is {host_pid} here" for host_pid in inner[:_SHOWN])
    return f"{shown}; and {len(inner) - _SHOWN} more" if len(inner) > _SHOWN else shown


def inner_pids(status_text: str) -> tuple[int, ...]:
    """A process's number in each namespace, from the one of this /proc to its own."""
    for line in status_text.splitlines():
        if line.startswith("NSpid:"):
            return tuple(int(word) for word in line.split()[1:])
    return ()


def _with_inner_pid(pid: int) -> Iterator[int]:
    for directory in PROC.iterdir():
        if not directory.name.isdigit():
            continue
        try:
            numbers = inner_pids((directory / "status").read_text(errors="replace"))
        except OSError:
            continue
        if len(numbers) > 1 and pid in numbers[1:]:
            yield numbers[0]


def _place(host_pid: int) -> str:
    container = container_of(memberships(host_pid))
    return f"in container {container[:_ID_CHARACTERS]}" if container else "in a pid namespace of its own"
