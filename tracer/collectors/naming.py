"""Captured addresses to frames as people read them, with a count of what could not be named."""

from __future__ import annotations

from typing import Protocol

from tracer.collectors.stacks import CapturedStack
from tracer.process.names import Name
from tracer.profile.gaps import BROKEN, C_LIBRARY, NO_CALLER, NO_STACK, TRUNCATED
from tracer.profile.model import Stack


class Names(Protocol):
    """Of all images; of a stack root first."""

    def frames(self, stack: CapturedStack) -> list[Name]: ...

    def root(self, stack: CapturedStack) -> tuple[str, ...]: ...


class Naming:
    """For one snapshot; counts are over its distinct stacks."""

    def __init__(self, known: Names) -> None:
        self._known = known
        self.truncated_stacks = 0
        self.broken_unwinds = 0
        self.unresolved_frames = 0
        self.frame_count = 0
        self.unresolved_modules: set[str] = set()

    def frames(self, stack: CapturedStack) -> Stack:
        """Root first."""
        leaf = (stack.leaf,) if stack.leaf else ()
        root = self._known.root(stack)
        if not stack.addresses:
            return (*root, NO_CALLER if stack.is_callerless else NO_STACK, *leaf)
        names = self._known.frames(stack)
        self.frame_count += len(names)
        self.unresolved_frames += _unresolved(names)
        self.unresolved_modules.update(name.module for name in names if not name.is_resolved)
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
