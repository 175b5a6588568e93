"""A pid and a start time to a live process, or to one sentence that says why it can't be traced."""

from __future__ import annotations

import os
import select
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

PROC = Path("/proc")
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD of linux/sched.h, in the flags field of /proc/PID/stat


class TargetError(Exception):
    """The process can't be traced; the text is for the person who chose it."""


@dataclass(frozen=True, slots=True)
class Status:
    """Fields of /proc/PID/stat (proc(5)), of the whole process."""

    command: str
    state: str
    flags: int
    minor_faults: int
    major_faults: int
    start_time: int  # clock ticks since boot


def read_status(pid: int) -> Status:
    """Raise TargetError when there is no such process."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        raise TargetError(f"there is no process {pid}") from None
    return parse_status(text)


def parse_status(text: str) -> Status:
    """The command stands in parentheses and may hold any character, so fields are counted from the last one."""
    command = text[text.index("(") + 1 : text.rindex(")")]
    fields = text[text.rindex(")") + 2 :].split()
    return Status(
        command, fields[0], flags=int(fields[6]), minor_faults=int(fields[7]), major_faults=int(fields[9]),
        start_time=int(fields[19]),
    )  # fmt: skip


class Process(Protocol):
    """One that is or was there."""

    @property
    def pid(self) -> int: ...

    @property
    def directory(self) -> Path:
        """In /proc."""
        ...

    def has_exited(self) -> bool: ...


class Target:
    """A process that was there and is the one meant. It is watched by a pidfd, which a reused pid can't fool."""

    def __init__(self, pid: int, *, start_time: int = 0) -> None:
        self.pid = pid
        status = read_status(pid)
        refuse_untraceable(pid, status, start_time)
        try:
            self._pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            raise TargetError(f"there is no process {pid}") from None
        except OSError:
            raise TargetError(_thread_text(pid)) from None
        self.command = status.command
        self.start_time = status.start_time
        if self.has_exited():
            self.close()
            raise TargetError(f"process {pid} has exited")

    @property
    def directory(self) -> Path:
        return PROC / str(self.pid)

    def has_exited(self) -> bool:
        return self.exits_within(0)

    def exits_within(self, seconds: float) -> bool:
        """Wait for the exit that long at most."""
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return bool(poll.poll(max(0, seconds) * 1000))

    def close(self) -> None:
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1


def refuse_untraceable(pid: int, status: Status, start_time: int) -> None:
    """Raise TargetError unless this is a process with memory that may be read, and the one that was meant."""
    if status.flags & _KERNEL_THREAD:
        raise TargetError(f"process {pid} ({status.command}) is a kernel thread: it has no memory of its own")
    if status.state in "ZX":
        raise TargetError(f"process {pid} ({status.command}) has exited")
    if start_time and start_time != status.start_time:
        raise TargetError(
            f"process {pid} is not the one that was chosen: it started at tick {status.start_time}, "
            f"expected {start_time} (the pid was used again)"
        )
    try:
        (PROC / str(pid) / "maps").read_bytes()
    except PermissionError:
        raise TargetError(f"no permission to trace process {pid} ({status.command}): memflame must be root") from None
    except (FileNotFoundError, ProcessLookupError):
        raise TargetError(f"there is no process {pid}") from None


def _thread_text(pid: int) -> str:
    for line in (PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith("Tgid:"):
            return f"{pid} is a thread of process {line.split()[1]}: record that one"
    return f"process {pid} can't be watched"
