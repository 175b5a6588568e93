"""Captured addresses to frames as people read them, with a count of what could not be named."""

from __future__ import annotations

from typing import Protocol

from tracer.collectors.stacks import CapturedStack
from tracer.process.address_space import AddressSpace, Name
from tracer.profile.model import Stack

TRUNCATED = "[truncated]"  # root of a stack that had more frames than were captured
BROKEN = "[broken unwind]"  # root of a stack whose unwinding ended before its root
NO_CALLER = "[caller not unwound]"  # root of a leaf that was not unwound
NO_STACK = "[stack not recorded]"  # all of a stack that was lost
C_LIBRARY = ("libc.so.", "libc-2.", "ld-linux", "ld-2.", "ld-musl", "libpthread")


class Spaces(Protocol):
    """What the addresses of each image mean."""

    def space(self, number: int) -> AddressSpace: ...

    def root(self, number: int) -> tuple[str, ...]:
        """Frames above all others of the image."""
        ...


class Naming:
    """For one snapshot; counts are over its distinct stacks."""

    def __init__(self, spaces: Spaces) -> None:
        self._spaces = spaces
        self.truncated_stacks = 0
        self.broken_unwinds = 0
        self.unresolved_frames = 0
        self.frame_count = 0

    def frames(self, stack: CapturedStack) -> Stack:
        """Root first."""
        leaf = (stack.leaf,) if stack.leaf else ()
        root = self._spaces.root(stack.image)
        if not stack.addresses:
            return (*root, NO_CALLER if stack.is_callerless else NO_STACK, *leaf)
        space = self._spaces.space(stack.image)
        names = [space.name(address) for address in reversed(stack.addresses)]
        self.frame_count += len(names)
        self.unresolved_frames += _unresolved(names)
        self.truncated_stacks += stack.is_truncated
        self.broken_unwinds += stack.is_broken
        return (*root, *_marks(stack), *(name.text for name in names), *leaf)


def _marks(stack: CapturedStack) -> tuple[str, ...]:
    """What stands for the callers that are missing."""
    marks = ((stack.is_callerless, NO_CALLER), (stack.is_broken, BROKEN), (stack.is_truncated, TRUNCATED))
    return tuple(mark for is_marked, mark in marks if is_marked)[:1]


def _unresolved(names: list[Name]) -> int:
    """Frames without a name, but for those of the C library between named ones: most systems strip it of its inner
    names, it stands by its file anyway, and every stack has some. A stack without any name counts whole."""
    if not any(name.is_resolved for name in names):
        return len(names)
    return sum(not (name.is_resolved or name.text.startswith(C_LIBRARY)) for name in names)
