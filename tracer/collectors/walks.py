"""Walks along frame pointers, judged by an unwinding of the same stack: a wrong one can look like a stack, too."""

from __future__ import annotations

from dataclasses import replace

from tracer.collectors.stacks import CapturedStack, RawStack, call_sites

_START_FRAMES = 2  # above the last frame of a right walk: the start code keeps no frame pointer


def stack_of_walk(walk: RawStack, unwound: CapturedStack) -> CapturedStack | None:
    """The stack of all events with this walk, or None if the walk missed callers.

    Where code keeps frame pointers, the walk is all there is, so what one unwinding shows holds for each. The word on
    top of the stack is part of a walk's key: it may be the caller of code that keeps no frame.
    """
    for candidate in _candidates(walk):
        common = _common(candidate, unwound.addresses)
        if unwound.is_truncated and common >= len(unwound.addresses) - 1:
            return replace(unwound, addresses=candidate, is_truncated=walk.is_truncated)
        if not unwound.is_broken and not unwound.is_truncated and common >= len(unwound.addresses) - _START_FRAMES:
            return unwound
    return None


def starts_wrong(walk: RawStack, unwound: CapturedStack) -> bool:
    """Whether the walk misses the very caller of the instruction, as it does in each function without a frame."""
    callers = {candidate[1:2] for candidate in _candidates(walk)}
    return len(unwound.addresses) > 1 and unwound.addresses[1:2] not in callers


def _candidates(walk: RawStack) -> list[tuple[int, ...]]:
    """As it was walked, and with the word on top of the stack as first caller."""
    if not walk.frames:
        return []
    instruction, *callers = walk.frames
    candidates = [(instruction, *call_sites(callers))]
    if walk.top:
        candidates.append((instruction, *call_sites((walk.top, *callers))))
    return candidates


def _common(some: tuple[int, ...], others: tuple[int, ...]) -> int:
    """How many addresses they begin with alike."""
    for position, (one, other) in enumerate(zip(some, others, strict=False)):
        if one != other:
            return position
    return min(len(some), len(others))
