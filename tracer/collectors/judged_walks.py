"""Walks of judged_walk.h: judged by an unwinding of the same stack, and taught where they went wrong."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Sequence

from tracer.bpf.program import Program
from tracer.collectors.copied_stacks import CopiesByImage
from tracer.collectors.images import own_address
from tracer.collectors.stacks import CapturedStack, RawStack
from tracer.collectors.steps import Step
from tracer.collectors.walks import stack_of_walk
from tracer.process.unwinder import INSTRUCTION_POINTER

NO_WALK = 0  # key where none was made, or kept
_RIGHT, _WRONG = struct.pack("=IIQ", 1, 0, 1), struct.pack("=IIQ", 0, 1, 1)


class JudgedWalks:
    """By key; a walk is judged once, as all walks with its key are alike."""

    def __init__(self, program: Program, copies: CopiesByImage) -> None:
        self._program, self._copies = program, copies
        self._stack_by_key: dict[int, CapturedStack | None] = {NO_WALK: None}  # None: the walk was wrong
        self._steps: defaultdict[int, dict[int, Step]] = defaultdict(dict)  # by image

    def is_judged(self, key: int) -> bool:
        return key in self._stack_by_key

    def right_stack(self, key: int) -> CapturedStack | None:
        """The stack of all events with this walk, if it was found right."""
        return self._stack_by_key.get(key)

    def judge(self, key: int, walk: RawStack | None, unwound: CapturedStack) -> bool:
        """Whether the walk found what an unwinding of its stack did; the kernel is told."""
        stack = self._stack_by_key[key] = stack_of_walk(walk, unwound) if walk else None
        self._program.map("verdicts").try_update(struct.pack("=Q", key), _RIGHT if stack else _WRONG)
        return stack is not None

    def teach(self, image: int, registers: Sequence[int], copy: bytes) -> None:
        """Let later walks along this stack find their way."""
        known = self._steps[image]
        steps = self._copies[image].missing_steps(registers, copy, known)
        known.update(steps)
        for address, step in steps.items():
            self._program.map("steps").try_update(own_address(image, address), step.pack())

    def give_up(self, image: int, registers: Sequence[int]) -> None:
        """Let no later walk begin here: there is no way to find."""
        instruction = own_address(image, registers[INSTRUCTION_POINTER])
        self._program.map("unwalkable").try_update(instruction, struct.pack("=I", 1))
