"""Records of syscall_events.h to calls with their stacks, unwound as they come."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tracer.collectors.copied_stacks import REGISTERS, STACK_BYTES, CopiesByImage
from tracer.collectors.options import option
from tracer.collectors.processes import Processes
from tracer.collectors.stacks import CapturedStack
from tracer.protocol import RunSpec

COUNTERS = ("events", "failed_stack", "ring_buffer_full", "call_map_full")

_PLAIN = struct.Struct("=HHI4Q6Q")


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

    @property
    def image(self) -> int:
        return self.stack.image


def defines(spec: RunSpec, processes: Processes) -> dict[str, int]:
    return {
        **processes.defines(),
        "RING_PAGES": option(spec, "ring_pages"),
        "MAX_CALLS": option(spec, "max_calls"),
        "STACK_BYTES": STACK_BYTES,
    }


class SystemCallReader:
    def __init__(self, processes: Processes) -> None:
        self._stacks = CopiesByImage(processes)

    def read(self, record: bytes) -> SystemCall:
        number, stack_bytes, image, entered_ns, returned_ns, result, previous, *arguments = _PLAIN.unpack_from(record)
        stack = self._stack(record, image, stack_bytes) if stack_bytes else CapturedStack((), image=image)
        return SystemCall(number, tuple(arguments), result, previous, entered_ns, returned_ns, stack)

    def close(self) -> None:
        self._stacks.close()

    def _stack(self, record: bytes, image: int, stack_bytes: int) -> CapturedStack:
        registers = REGISTERS.unpack_from(record, _PLAIN.size)
        start = _PLAIN.size + REGISTERS.size
        return self._stacks[image].captured(registers, record[start : start + stack_bytes])
