"""Copies of copied_stack.h to stacks: unwound by the tables of what is mapped at that moment."""

from __future__ import annotations

import struct
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from tracer.collectors.processes import Processes
from tracer.collectors.stacks import CapturedStack
from tracer.collectors.steps import Step, missing_steps
from tracer.process.address_space import AddressSpace
from tracer.process.unwind_cache import UnwindCache
from tracer.process.unwinder import MAX_FRAMES, Unwinder, Unwound

STACK_BYTES = 16_384  # copied from the stack pointer up; deeper stacks lose their root and say so
REGISTERS = struct.Struct("=17Q")
_MOST_OPEN = 32  # of images; each unwinder keeps a descriptor of every file that it has read
_LOOK_AGAIN_S = 0.05  # code that is mapped nowhere is no reason to read the maps each time


class CopiedStacks:
    def __init__(self, pid: int, space: AddressSpace, image: int = 0) -> None:
        self.space = space
        self._image = image
        self._unwinder = Unwinder(pid, space)
        self._cache = UnwindCache(self._unwinder)
        self._version = space.version
        self._looked_at = 0.0

    def captured(self, registers: Sequence[int], stack: bytes) -> CapturedStack:
        unwound = self._unwound(registers, stack)
        if not unwound.is_complete and self._has_new_code(unwound.addresses[-1]):
            unwound = self._unwound(registers, stack)
        is_truncated = unwound.is_short and (len(stack) == STACK_BYTES or len(unwound.addresses) == MAX_FRAMES)
        is_broken = not unwound.is_complete and not is_truncated
        return CapturedStack(unwound.addresses, is_truncated=is_truncated, is_broken=is_broken, image=self._image)

    def missing_steps(self, registers: Sequence[int], stack: bytes, known: Mapping[int, Step]) -> dict[int, Step]:
        """What a walk of the kernel needs to know beside `known` to find this stack."""
        unwound = self._unwinder.unwind(registers, stack)
        return missing_steps(registers, unwound, self._unwinder.reads, known)

    def close(self) -> None:
        self._unwinder.close()

    def _unwound(self, registers: Sequence[int], stack: bytes) -> Unwound:
        if self._version != self.space.version:
            self._version = self.space.version
            self._unwinder.report()
            self._cache.clear()
        return self._cache.unwind(registers, stack)

    def _has_new_code(self, address: int) -> bool:
        """Whether a stack that ended there led through a library that was loaded since the last look."""
        now = time.monotonic()
        if self.space.has_code_at(address) or now < self._looked_at + _LOOK_AGAIN_S:
            return False
        self._looked_at = now
        return self.space.refresh()


class CopiesByImage:
    """Of each image, made when a stack of it comes; the least used are closed, as each has files open."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._known: OrderedDict[int, CopiedStacks] = OrderedDict()

    def __getitem__(self, image: int) -> CopiedStacks:
        space = self._processes.space(image)
        if image in self._known and self._known[image].space is not space:
            self._known.pop(image).close()  # a forked child whose own mappings were read meanwhile
        if image not in self._known:
            if len(self._known) >= _MOST_OPEN:
                self._known.popitem(last=False)[1].close()
            self._known[image] = CopiedStacks(self._processes.first.pid, space, image)
        self._known.move_to_end(image)
        return self._known[image]

    def close(self) -> None:
        for copies in self._known.values():
            copies.close()
        self._known.clear()
