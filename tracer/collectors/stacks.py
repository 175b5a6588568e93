"""Stacks as a collector captured them: addresses, leaf first, not names yet."""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tracer.bpf.maps import Map

MAX_FRAMES = 127  # the kernel's default limit of a user stack, sysctl kernel.perf_event_max_stack
LOST_KEY = 0  # of events whose stack had no room
NO_IMAGE = -1  # of stacks that may be of any process
_RAW_HEAD = struct.Struct("=IHHQ")
RAW_STACK_BYTES = _RAW_HEAD.size + 8 * MAX_FRAMES


@dataclass(frozen=True, slots=True)
class CapturedStack:
    """Each address lies inside the instruction that was under way: a return address less 1."""

    addresses: tuple[int, ...]
    leaf: str = ""  # a frame that the addresses don't have
    is_truncated: bool = False
    is_broken: bool = False  # unwinding ended before the root
    is_callerless: bool = False  # not unwound: the addresses are the leaf's alone
    image: int = 0  # in which the addresses mean something; 0 where there is one process


LOST_STACK = CapturedStack((), image=NO_IMAGE)


@dataclass(frozen=True, slots=True)
class RawStack:
    """An entry of the map of stacks.h: frames leaf first, all but the first return addresses.

    `top` is a return address that the kernel's walk may have missed, or 0.
    """

    function: int
    top: int
    frames: tuple[int, ...]
    image: int = 0

    @property
    def is_truncated(self) -> bool:
        return len(self.frames) >= frame_limit()


class StackMap:
    """The map of stacks.h."""

    def __init__(self, stacks: Map) -> None:
        self._map = stacks

    def lookup(self, key: int) -> RawStack | None:
        raw = self._map.lookup(struct.pack("=Q", key))
        return parse_raw_stack(raw) if raw is not None else None


class KernelStacks:
    """That map, each stack read once and made what the collector says it means."""

    def __init__(self, stacks: Map, meaning: Callable[[RawStack], CapturedStack]) -> None:
        self._map = StackMap(stacks)
        self._meaning = meaning
        self._stack_by_key: dict[int, CapturedStack] = {LOST_KEY: LOST_STACK}

    def __getitem__(self, key: int) -> CapturedStack:
        if key not in self._stack_by_key:
            raw = self._map.lookup(key)
            self._stack_by_key[key] = self._meaning(raw) if raw is not None else LOST_STACK
        return self._stack_by_key[key]

    def poll(self, _timeout_ms: int) -> None:
        """Nothing is sent: the kernel walked the stacks."""

    def close(self) -> None:
        """Nothing to let go."""


def failures(entries: Iterable[tuple[bytes, bytes]]) -> dict[str, int]:
    """Stacks that the kernel could not read, by the name of its error: `{"EFAULT": 3}`."""
    counts = {int.from_bytes(error, "little"): int.from_bytes(count, "little") for error, count in entries}
    return {errno.errorcode.get(error, f"error {error}"): count for error, count in sorted(counts.items())}


def parse_raw_stack(raw: bytes) -> RawStack:
    count, function, image, top = _RAW_HEAD.unpack_from(raw)
    return RawStack(function, top, struct.unpack_from(f"={count}Q", raw, _RAW_HEAD.size), image)


def call_sites(frames: Iterable[int]) -> tuple[int, ...]:
    """Return addresses to addresses inside the calls that they follow."""
    return tuple(frame - 1 for frame in frames)


@cache
def frame_limit() -> int:
    """A stack of so many frames was cut at the root."""
    return min(MAX_FRAMES, int(Path("/proc/sys/kernel/perf_event_max_stack").read_text()))
