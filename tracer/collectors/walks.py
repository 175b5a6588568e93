"""Walks along frame pointers, judged by an unwinding of the same stack: a wrong one can look like a stack, too."""

from __future__ import annotations

from dataclasses import replace

from tracer.collectors.stacks import MAX_FRAMES, CapturedStack, RawStack, call_sites

_START_FRAMES = 2  # above the last frame of a right walk: the start code keeps no frame pointer


def stack_of_walk(walk: RawStack, unwound: CapturedStack) -> CapturedStack | None:
    """The stack of all events with this walk, or None if the walk missed callers.

    A walk is led by what lies in the stack, so what one unwinding shows of it holds for each that went the same way.
    """
    if unwound.is_broken:
        return None
    is_cut = len(walk.frames) >= MAX_FRAMES
    for walked in _candidates(walk):
        if _common(walked, unwound.addresses) < _expected(walked if is_cut else (), unwound):
            continue
        if is_cut or unwound.is_truncated:
            return replace(unwound, addresses=walked, is_truncated=is_cut)
        return unwound
    return None


def _expected(cut: tuple[int, ...], unwound: CapturedStack) -> int:
    """How many addresses must be alike: up to the start code, or to where one of both was cut."""
    known = len(unwound.addresses) - (0 if unwound.is_truncated else _START_FRAMES)
    return min(known, len(cut)) if cut else known


def _candidates(walk: RawStack) -> list[tuple[int, ...]]:
    """As it was walked, and with the word on top of the stack as first caller, for functions that keep no frame."""
    instruction, callers = walk.frames[:1], walk.frames[1:]
    candidates = [(*instruction, *call_sites(callers))]
    if walk.top:
        candidates.append((*instruction, *call_sites((walk.top, *callers))))
    return candidates


def _common(some: tuple[int, ...], others: tuple[int, ...]) -> int:
    """How many addresses they begin with alike."""
    for position, (one, other) in enumerate(zip(some, others, strict=False)):
        if one != other:
            return position
    return min(len(some), len(others))
