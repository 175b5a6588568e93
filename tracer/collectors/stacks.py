"""Stacks as a collector captured them: addresses, leaf first, not names yet."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tracer.bpf.maps import Map

MAX_FRAMES = 127  # the kernel's default limit of a user stack, sysctl kernel.perf_event_max_stack
LOST_KEY = 0  # of events whose stack had no room


@dataclass(frozen=True, slots=True)
class CapturedStack:
    """Each address lies inside the instruction that was under way: a return address less 1."""

    addresses: tuple[int, ...]
    leaf: str = ""  # a frame that the addresses don't have
    is_truncated: bool = False


LOST_STACK = CapturedStack(())


class KernelStacks:
    """The map of stacks.h, read once a stack."""

    def __init__(self, stacks: Map, *, leaves: tuple[str, ...] = ("",), first_is_return: bool) -> None:
        self._map = stacks
        self._leaves = leaves
        self._first_is_return = first_is_return
        self._stack_by_key: dict[int, CapturedStack] = {LOST_KEY: LOST_STACK}

    def __getitem__(self, key: int) -> CapturedStack:
        if key not in self._stack_by_key:
            raw = self._map.lookup(struct.pack("=Q", key))
            self._stack_by_key[key] = self._parsed(raw) if raw is not None else LOST_STACK
        return self._stack_by_key[key]

    def _parsed(self, raw: bytes) -> CapturedStack:
        count, function = struct.unpack_from("=II", raw)
        frames = struct.unpack_from(f"={count}Q", raw, 8)
        first = frames[:1] if not self._first_is_return else tuple(frame - 1 for frame in frames[:1])
        return CapturedStack(
            (*first, *(frame - 1 for frame in frames[1:])), self._leaves[function], is_truncated=count >= frame_limit()
        )


@cache
def frame_limit() -> int:
    """A stack of so many frames was cut at the root."""
    return min(MAX_FRAMES, int(Path("/proc/sys/kernel/perf_event_max_stack").read_text()))
