"""Calls that map, unmap, protect or move the end of the heap to values by stack, and to what is left at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tracer.profile.formats.address_space import AddressSpace, Range
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.strace_lines import Call, number_at
from tracer.profile.formats.strace_tasks import Process
from tracer.profile.model import Limits, Profile, Stack, ValueType

_END = "when their process ended, or the log did"
_VALUE_TYPES = (
    ValueType("outstanding_bytes", "bytes", "level", f"Bytes mapped or added to the heap and still there {_END}"),
    ValueType("mapped_bytes", "bytes", "flow", "Bytes mapped by mmap and mremap, unmapped since or not"),
    ValueType("heap_bytes", "bytes", "flow", "Bytes by which brk moved the end of the heap"),
    ValueType("reserved_bytes", "bytes", "flow", "Bytes of address space reserved without access (PROT_NONE)"),
    ValueType("still_reserved_bytes", "bytes", "level", f"Bytes of address space without access {_END}"),
    ValueType("unmapped_bytes", "bytes", "flow", "Bytes that calls of munmap and mremap gave back"),
    ValueType("calls", "calls", "flow", "Calls of mmap, munmap, mremap, mprotect, madvise and brk that succeeded"),
    ValueType("failed_calls", "calls", "flow", "Calls of mmap, munmap, mremap, mprotect, madvise and brk that failed"),
)
_OUTSTANDING, _MAPPED, _HEAP, _RESERVED, _STILL_RESERVED, _UNMAPPED, _CALLS, _FAILED = range(len(_VALUE_TYPES))


class Memory:
    def __init__(self, limits: Limits) -> None:
        self._sums = StackSums(_VALUE_TYPES, limits)
        self._number_by_stack: dict[Stack, int] = {}
        self._values: list[list[int]] = []  # by number of a stack
        self._stackless = 0

    @property
    def profile(self) -> Profile:
        """Takes the skipped lines."""
        return self._sums.profile

    def take(self, process: Process, call: Call, frames: Sequence[str]) -> None:
        """Frames root first; without any, the kind of call stands for them."""
        if call.result is None:
            return
        arguments = call.text.split(", ", 6)
        self._stackless += not frames
        stack = (*((process.name,) if process.name else ()), *(frames or (_kind(call.name, arguments),)))
        number = self._number_by_stack.setdefault(stack, len(self._values))
        if number == len(self._values):
            self._values.append([0] * len(_VALUE_TYPES))
        has_worked = call.result >= 0 and CALLS[call.name](
            _Step(self._values[number], number, process), call, arguments
        )
        self._values[number][_CALLS if has_worked else _FAILED] += 1

    def settle(self, space: AddressSpace) -> None:
        """Count what is left of a process that has ended."""
        for left in space.take_all():
            if left.owner is not None:
                column = _STILL_RESERVED if left.is_reserved else _OUTSTANDING
                self._values[left.owner][column] += left.end - left.start

    def finish(self) -> Profile:
        for stack, number in self._number_by_stack.items():
            self._sums.add(stack, self._values[number])
        return self._sums.finish("the log holds no call of mmap, munmap, mremap, mprotect, madvise or brk")

    def notes(self) -> list[str]:
        calls = sum(values[_CALLS] + values[_FAILED] for values in self._values)
        notes = []
        if self._stackless:
            notes.append(f"Calls without a stack, shown by their kind: {self._stackless:,} of {calls:,} (strace -k).")
        return notes


class _Step:
    """One call of a stack on the memory of a process."""

    def __init__(self, values: list[int], owner: int, process: Process) -> None:
        self._values, self._owner, self.process = values, owner, process

    def map(self, start: int, size: int, *, is_reserved: bool) -> None:
        self._values[_RESERVED if is_reserved else _MAPPED] += size
        self.process.space.add(Range(start, start + size, self._owner, is_reserved))

    def unmap(self, start: int, size: int) -> list[Range]:
        self._values[_UNMAPPED] += size
        return self.process.space.cut(start, start + size)

    def tell_heap_end(self, end: int) -> None:
        """A heap that is elsewhere without a call is that of another program, whose execve was not logged."""
        if self.process.heap_end not in (None, end):
            self.process.begin_anew()
        self.process.heap_end = end

    def move_heap_end(self, end: int) -> None:
        """Where nothing told where it was, the first call only tells where it is."""
        before, self.process.heap_end = self.process.heap_end, end
        if before is None:
            return
        self._values[_HEAP] += end - before
        if end > before:
            self.process.space.add(Range(before, end, self._owner, is_reserved=False))
        else:
            self.process.space.cut(end, before)


def _mmap(step: _Step, call: Call, arguments: list[str]) -> bool:
    size = number_at(arguments, 1)
    if size is None or call.result is None or len(arguments) < 3:
        return False
    step.map(call.result, size, is_reserved=arguments[2] in _NO_ACCESS)
    return True


def _munmap(step: _Step, call: Call, arguments: list[str]) -> bool:
    start, size = number_at(arguments, 0), number_at(arguments, 1)
    if start is None or size is None:
        return False
    step.unmap(start, size)
    return True


def _mremap(step: _Step, call: Call, arguments: list[str]) -> bool:
    """The old mapping goes and a new one of full size comes, as with a realloc."""
    start, old, new = (number_at(arguments, place) for place in range(3))
    if start is None or old is None or new is None or call.result is None:
        return False
    gone = [] if "MREMAP_DONTUNMAP" in call.text else step.unmap(start, old)
    step.map(call.result, new, is_reserved=bool(gone) and gone[0].is_reserved)
    return True


def _mprotect(step: _Step, call: Call, arguments: list[str]) -> bool:
    """Memory stays with whoever mapped it; only whether it can be used changes."""
    start, size = number_at(arguments, 0), number_at(arguments, 1)
    if start is None or size is None or len(arguments) < 3:
        return False
    step.process.space.protect(start, start + size, is_reserved=arguments[2] in _NO_ACCESS)
    return True


def _madvise(step: _Step, call: Call, arguments: list[str]) -> bool:
    """It gives back pages, the mapping stays."""
    return True


def _brk(step: _Step, call: Call, arguments: list[str]) -> bool:
    """The kernel answers with the end of the heap, moved or not."""
    wanted, end = number_at(arguments, 0), call.result
    if end is None:
        return False
    if not wanted:
        step.tell_heap_end(end)
        return True
    step.move_heap_end(end)
    return wanted == end


_NO_ACCESS = ("PROT_NONE", "0", "0x0")
CALLS: Mapping[str, Callable[[_Step, Call, list[str]], bool]] = {
    "mmap": _mmap,
    "mmap2": _mmap,
    "munmap": _munmap,
    "mremap": _mremap,
    "mprotect": _mprotect,
    "madvise": _madvise,
    "brk": _brk,
}


def _kind(name: str, arguments: list[str]) -> str:
    if not name.startswith("mmap") or len(arguments) < 5:
        return name
    if arguments[2] in _NO_ACCESS:
        return "mmap reservation"
    return "mmap anonymous" if arguments[4].startswith("-1") else "mmap file"
