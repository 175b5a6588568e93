"""Records of syscall_events.h to calls with their stacks, unwound as they come."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tracer.collectors.options import option
from tracer.collectors.stacks import CapturedStack
from tracer.process.address_space import AddressSpace
from tracer.process.unwinder import Unwinder
from tracer.protocol import RunSpec

STACK_BYTES = 16_384  # copied from the stack pointer up; deeper stacks lose their root and say so
COUNTERS = ("events", "failed_stack", "ring_buffer_full", "call_map_full")

_PLAIN = struct.Struct("=II4Q6Q")
_REGISTERS = struct.Struct("=17Q")
_NO_STACK = CapturedStack(())


@dataclass(frozen=True, slots=True)
class SystemCall:
    """A call that returned; times are of the monotonic clock."""

    number: int
    arguments: tuple[int, ...]
    result: int
    previous: int
    entered_ns: int
    returned_ns: int
    stack: CapturedStack


def defines(spec: RunSpec, pid: int) -> dict[str, int]:
    return {
        "TARGET_TGID": pid,
        "RING_PAGES": option(spec, "ring_pages"),
        "MAX_CALLS": option(spec, "max_calls"),
        "STACK_BYTES": STACK_BYTES,
    }


class SystemCallReader:
    def __init__(self, pid: int, space: AddressSpace) -> None:
        self._space = space
        self._unwinder = Unwinder(pid, space)

    def read(self, record: bytes) -> SystemCall:
        number, stack_bytes, entered_ns, returned_ns, result, previous, *arguments = _PLAIN.unpack_from(record)
        stack = self._stack(record, stack_bytes) if stack_bytes else _NO_STACK
        return SystemCall(number, tuple(arguments), result, previous, entered_ns, returned_ns, stack)

    def close(self) -> None:
        self._unwinder.close()

    def _stack(self, record: bytes, stack_bytes: int) -> CapturedStack:
        registers = _REGISTERS.unpack_from(record, _PLAIN.size)
        start = _PLAIN.size + _REGISTERS.size
        stack = record[start : start + stack_bytes]
        unwound = self._unwinder.unwind(registers, stack)
        if not unwound.is_complete and self._space.refresh():
            # It may have led through a library that was loaded since.
            self._unwinder.report()
            unwound = self._unwinder.unwind(registers, stack)
        return CapturedStack(unwound.addresses, is_truncated=not unwound.is_complete)
