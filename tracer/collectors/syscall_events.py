"""Records of syscall_events.h to calls with their stacks, unwound as they come."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tracer.collectors.copied_stacks import REGISTERS, STACK_BYTES, CopiedStacks
from tracer.collectors.options import option
from tracer.collectors.stacks import CapturedStack
from tracer.process.address_space import AddressSpace
from tracer.protocol import RunSpec

COUNTERS = ("events", "failed_stack", "ring_buffer_full", "call_map_full")

_PLAIN = struct.Struct("=II4Q6Q")
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
        self._stacks = CopiedStacks(pid, space)

    def read(self, record: bytes) -> SystemCall:
        number, stack_bytes, entered_ns, returned_ns, result, previous, *arguments = _PLAIN.unpack_from(record)
        stack = self._stack(record, stack_bytes) if stack_bytes else _NO_STACK
        return SystemCall(number, tuple(arguments), result, previous, entered_ns, returned_ns, stack)

    def close(self) -> None:
        self._stacks.close()

    def _stack(self, record: bytes, stack_bytes: int) -> CapturedStack:
        registers = REGISTERS.unpack_from(record, _PLAIN.size)
        start = _PLAIN.size + REGISTERS.size
        return self._stacks.captured(registers, record[start : start + stack_bytes])
