"""Tasks of an strace log to processes and their memory: threads share it, a fork copies it, execve begins anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tracer.profile.formats.address_space import AddressSpace, Copies

CLONES = ("clone", "clone3", "fork", "vfork")
_NO_PID = 0  # the task of lines that name none
_PATH = re.compile(r'"((?:[^"\\]|\\.)*+)"')


@dataclass(slots=True)
class Process:
    program: str  # empty if the log does not tell
    pid: int  # 0 if lines name none
    space: AddressSpace
    heap_end: int | None = None  # as brk() last said
    tasks: int = 1
    is_heard: bool = False  # the log has a line of it; with strace -ff, those of children are in files of their own
    is_guest: bool = False  # in the memory of a process that waits for it, as after vfork()

    def begin_anew(self) -> None:
        """The memory is gone, without having been unmapped by anyone."""
        self.space = self.space.empty()

    @property
    def name(self) -> str:
        """Empty if the log names neither program nor pid."""
        return self.program or (f"pid {self.pid}" if self.pid else "")


class Tasks:
    def __init__(self, settle: Callable[[AddressSpace], None]) -> None:
        self._settle = settle  # called with the memory of a process that ends
        self._processes: dict[int, Process] = {}
        self._first: int | None = None  # the pid of lines that name none, once it is known
        self._announced: set[int] = set()
        self._cloning: dict[int, str] = {}  # arguments of clones that are under way, by parent
        self._copies = Copies()
        self.forks = 0

    def key(self, task: int | None) -> int:
        """The number under which a task is known."""
        return (self._first or _NO_PID) if task is None else task

    def of(self, task: int | None) -> Process:
        """The process of a task, which may be one that the log tells nothing of."""
        key = self.key(task)
        process = self._processes.get(key) or self._unknown(key)
        process.is_heard = True
        return process

    def announce(self, task: int) -> None:
        self._announced.add(task)

    def begin_clone(self, task: int | None, name: str, text: str) -> None:
        if name in CLONES:
            self._cloning[self.key(task)] = f"{name} {text}"

    def end_clone(self, task: int | None, name: str, text: str, child: int | None) -> None:
        self._cloning.pop(self.key(task), None)
        if child is not None and child > 0 and child not in self._processes:
            self._start(self.of(task), child, f"{name} {text}")

    def execute(self, task: int | None, text: str) -> None:
        """Another program."""
        old, path = self.of(task), _PATH.match(text)
        name = _unescaped(path[1]).rpartition("/")[2] if path else ""
        old.tasks -= 1
        old.begin_anew()
        self._processes[self.key(task)] = Process(name or old.program, old.pid, AddressSpace(self._copies))

    def end(self, task: int | None) -> None:
        process = self._processes.pop(self.key(task), None)
        if process is not None:
            self._leave(process)

    def end_all(self) -> None:
        for process in self._processes.values():
            if process.is_heard:
                self._settle(process.space)
        self._processes.clear()

    def _leave(self, process: Process) -> None:
        process.tasks -= 1
        if process.tasks == 0 and process.is_heard and not process.is_guest:
            self._settle(process.space)

    def _unknown(self, key: int) -> Process:
        """A child whose parent's line is not whole yet; the task of the lines without a number; or a stranger."""
        if key not in self._announced and key != _NO_PID and self._first is None and _NO_PID in self._processes:
            return self._name_first(key)
        if self._cloning and key != _NO_PID:
            parent = next(iter(self._cloning))
            return self._start(self.of(parent or None), key, self._cloning[parent])
        process = self._processes[key] = Process("", key, AddressSpace(self._copies))
        return process

    def _name_first(self, key: int) -> Process:
        self._first = key
        process = self._processes[key] = self._processes.pop(_NO_PID)
        if _NO_PID in self._cloning:
            self._cloning[key] = self._cloning.pop(_NO_PID)
        return process

    def _start(self, parent: Process, child: int, call: str) -> Process:
        if "CLONE_THREAD" in call:
            parent.tasks += 1
            self._processes[child] = parent
            return parent
        is_shared = call.startswith("vfork") or "CLONE_VM" in call
        self.forks += not is_shared
        space = parent.space if is_shared else parent.space.copy_for_child()
        process = Process(parent.program, child, space, parent.heap_end, is_guest=is_shared)
        self._processes[child] = process
        return process


def _unescaped(text: str) -> str:
    r"""A string as strace prints it, with `\x2f` and `\303` for bytes."""
    return re.sub(r"\\(?:x([0-9a-f]{2})|([0-7]{1,3}))", _character, text)


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16) if escape[1] else int(escape[2], 8) & 0xFF)
