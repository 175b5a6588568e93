"""Samples of a pprof profile to stacks and values; their numbers are unpacked many at once (numpy)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tracer.profile.errors import LimitExceeded, MalformedProfile
from tracer.profile.folded import MAX_COLUMNS
from tracer.profile.formats.pprof_labels import LABEL
from tracer.profile.formats.wire import fields, packed
from tracer.profile.model import Limits

_BATCH_BYTES = 1 << 20  # of packed numbers; as columns a batch takes 20 times as much while it is worked on
_SAMPLE_BYTES = 8  # what a sample takes at least, also one of no bytes
_MAX_VARINT_BYTES = 10
_LOCATIONS, _VALUES = 1, 2  # fields of a sample
Numbers = npt.NDArray[Any]


class Samples:
    """Kept as numbers until all tables are read: most writers put the names last."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pending: dict[int, list[bytes]] = {_LOCATIONS: [], _VALUES: []}
        self._pending_bytes = self._frames = self._samples = self._numbers = 0
        self._batches: list[tuple[Numbers, Numbers, Numbers]] = []  # locations, how many a sample has, values
        self.depths: Counter[int] = Counter()
        self.widths: set[int] = set()  # numbers of values that samples have

    def take(self, message: bytes) -> list[bytes]:
        """Its labels."""
        self._samples += 1
        _watch("number of samples", self._samples, self._limits.lines)
        parts, labels = {_LOCATIONS: b"", _VALUES: b""}, []
        for number, _, value in fields(message):
            if number in parts:
                parts[number] += packed(value) if isinstance(value, int) else value
            elif number == LABEL and isinstance(value, bytes):
                labels.append(value)
        for number, part in parts.items():
            if part and part[-1] > 127:
                raise MalformedProfile("packed numbers end inside of one")
            self._pending[number].append(part)
        self._pending_bytes += len(message) + _SAMPLE_BYTES
        if self._pending_bytes > _BATCH_BYTES:
            self.unpack()
        return labels

    def rows(self, key_of: Callable[[int], bytes], columns: int) -> Iterator[tuple[bytes, list[int]]]:
        """Of each sample the key of its stack, root first, and its values; `key_of` gives that of one location."""
        known_key_of = cache(key_of)
        for locations, depths, values in self._batches:
            parts = list(map(known_key_of, locations[::-1].tolist()))  # backwards, so each stack is root first
            ends = len(parts) - np.cumsum(depths) + depths
            starts = ends - depths
            rows = values.reshape(-1, columns).tolist()
            for start, end, row in zip(starts.tolist(), ends.tolist(), rows, strict=True):
                yield b"".join(parts[start:end]), row

    def unpack(self) -> None:
        """What was taken since the last time."""
        locations, values = (unpacked(b"".join(self._pending[number])) for number in (_LOCATIONS, _VALUES))
        depths = _counts(self._pending[_LOCATIONS])
        self._check(depths, len(values))
        self.depths.update(depths.tolist())
        self.widths.update(_counts(self._pending[_VALUES]).tolist())
        self._batches.append((locations, depths, values.view(np.int64)))
        self._pending, self._pending_bytes = {_LOCATIONS: [], _VALUES: []}, 0

    def _check(self, depths: Numbers, values: int) -> None:
        """A packed file can hold very many of what takes it one byte."""
        self._frames += int(depths.sum())
        self._numbers += values
        _watch("number of frames in a stack", int(depths.max(initial=0)), self._limits.stack_frames)
        _watch("number of frames in all stacks", self._frames, self._limits.frames)
        _watch("number of values", self._numbers, MAX_COLUMNS * self._samples)


def _watch(what: str, value: int, limit: int) -> None:
    if value > limit:
        raise LimitExceeded(what, limit=limit, value=value)


def unpacked(data: bytes) -> Numbers:
    """Whole varints, one behind the other, as unsigned 64-bit numbers."""
    raw = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(raw < 128)
    starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
    sizes = ends - starts + 1
    longest = int(sizes.max(initial=0))
    if longest > _MAX_VARINT_BYTES:
        raise MalformedProfile(f"a number has more than {_MAX_VARINT_BYTES} bytes")
    found = np.zeros(len(ends), np.uint64)
    for place in range(longest):
        there = np.flatnonzero(sizes > place)
        found[there] |= (raw[starts[there] + place] & 127).astype(np.uint64) << np.uint64(7 * place)
    return found


def _counts(parts: list[bytes]) -> Numbers:
    """How many numbers each part holds."""
    is_last = np.frombuffer(b"".join(parts), np.uint8) < 128
    before = np.concatenate(([0], np.cumsum(is_last)))
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
    return np.diff(before[ends], prepend=0)
