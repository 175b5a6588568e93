"""Keys of unwound_stacks.h to stacks: copies unwound, walks judged, and what was not unwound known by its caller."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace

from tracer.bpf.program import HERE, Program
from tracer.collectors.copied_stacks import REGISTERS, STACK_BYTES, CopiesByImage
from tracer.collectors.judged_walks import JudgedWalks
from tracer.collectors.options import option
from tracer.collectors.processes import Processes
from tracer.collectors.stacks import (
    LOST_KEY,
    LOST_STACK,
    MAX_FRAMES,
    RAW_STACK_BYTES,
    CapturedStack,
    RawStack,
    call_sites,
    parse_raw_stack,
)
from tracer.process.memory import read_memory
from tracer.process.unwinder import STACK_POINTER
from tracer.protocol import RunSpec

SOURCES = tuple(HERE / header for header in ("copied_stack.h", "judged_walk.h", "unwound_stacks.h"))
_MOST_STACK_BYTES = 256 * 1024  # taken to judge a walk
_HEAD = struct.Struct("=4Q")  # struct copy
_INNERMOST = struct.Struct("=QII")
_WALK_AT = _HEAD.size + REGISTERS.size
_STACK_AT = _WALK_AT + RAW_STACK_BYTES


class UnwoundStacks:
    """Stacks from the place where a function returns to, with what the collector calls that function as leaf."""

    def __init__(self, program: Program, processes: Processes, leaf_of: Callable[[int], str]) -> None:
        self._program, self._leaf_of = program, leaf_of
        self._copies = CopiesByImage(processes)
        self._judged = JudgedWalks(program, self._copies)
        self._stack_by_key: dict[int, CapturedStack] = {LOST_KEY: LOST_STACK}
        program.open_ring("copies")

    def __getitem__(self, key: int) -> CapturedStack:
        return self._stack_by_key.get(key) or self._innermost(key)

    def poll(self, timeout_ms: int) -> int:
        records = self._program.records(timeout_ms)
        for record in records:
            self._add(record)
        return len(records)

    def close(self) -> None:
        self._copies.close()

    def _add(self, record: bytes) -> None:
        thread, key, walk_key, stack_bytes = _HEAD.unpack_from(record)
        registers = REGISTERS.unpack_from(record, _HEAD.size)
        walk = parse_raw_stack(record[_WALK_AT:_STACK_AT])
        copy = record[_STACK_AT : _STACK_AT + stack_bytes]
        unwound = _innermost_frames(self._copies[walk.image].captured(registers, copy))
        if not self._judged.is_judged(walk_key):
            self._judge(walk_key, walk, registers, self._whole_stack(thread >> 32, registers, copy))
        if right := self._judged.right_stack(walk_key):
            self._stack_by_key[walk_key] = self._named(right, walk)
        # Stacks with the key of a copy may differ above it.
        self._stack_by_key[key] = self._named(unwound if unwound.is_truncated or not right else right, walk)

    def _judge(self, key: int, walk: RawStack, registers: Sequence[int], stack: bytes) -> None:
        unwound = _innermost_frames(self._copies[walk.image].captured(registers, stack))
        is_whole = not unwound.is_truncated or len(unwound.addresses) == MAX_FRAMES
        if not self._judged.judge(key, walk if is_whole else None, unwound):
            self._judged.teach(walk.image, registers, stack)

    def _whole_stack(self, pid: int, registers: Sequence[int], copy: bytes) -> bytes:
        """What was too far up to be copied is read now. It seldom changes, and if it has, then what was walked before
        differs from it and is not believed."""
        if len(copy) < STACK_BYTES:
            return copy
        return copy + read_memory(pid, registers[STACK_POINTER] + len(copy), _MOST_STACK_BYTES - len(copy))

    def _named(self, stack: CapturedStack, walk: RawStack) -> CapturedStack:
        """Even the first address is one that a call returns to."""
        addresses = (*call_sites(stack.addresses[:1]), *stack.addresses[1:])
        return replace(stack, addresses=addresses, leaf=self._leaf_of(walk.function))

    def _innermost(self, key: int) -> CapturedStack:
        raw = self._program.map("innermost_calls").lookup(struct.pack("=Q", key))
        if raw is None:
            return LOST_STACK
        address, function, image = _INNERMOST.unpack(raw)
        return CapturedStack(call_sites((address,)), self._leaf_of(function), is_callerless=True, image=image)


def defines(spec: RunSpec) -> dict[str, int]:
    """Of the headers."""
    return {
        "STACK_BYTES": STACK_BYTES,
        "COPIES_A_SECOND": option(spec, "unwinds_a_second"),
        "RING_PAGES": option(spec, "ring_pages"),
    }


def max_keys(spec: RunSpec) -> int:
    """Of right walks, and of all others."""
    return 2 * option(spec, "max_stacks") + 1


def _innermost_frames(stack: CapturedStack) -> CapturedStack:
    """No more than a walk has."""
    if len(stack.addresses) <= MAX_FRAMES:
        return stack
    return replace(stack, addresses=stack.addresses[:MAX_FRAMES], is_truncated=True, is_broken=False)
