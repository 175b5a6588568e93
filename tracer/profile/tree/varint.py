"""Whole numbers to LEB128 varints and back, whole columns at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def uvarint(numbers: npt.NDArray[Any]) -> bytes:
    """Seven bits a byte, low bits first, the upper bit set on all bytes but a number's last."""
    largest = int(numbers.max(initial=0))
    if largest < 1 << 7:  # as most counts of children and many names
        return numbers.astype(np.uint8).tobytes()
    left = numbers.astype(np.uint64)
    length = np.ones(len(left), np.int64)
    for bits in range(7, largest.bit_length(), 7):
        length += left >= np.uint64(1 << bits)
    start = np.cumsum(length) - length
    out = np.empty(int(length.sum()), np.uint8)
    for place in range(int(length.max(initial=0))):
        still = np.flatnonzero(length > place)
        more = (length[still] > place + 1).astype(np.uint8) << 7
        out[start[still] + place] = (left[still] >> np.uint64(7 * place)).astype(np.uint8) & 0x7F | more
    return out.tobytes()


def zigzag(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """0, -1, 1, -2, … to 0, 1, 2, 3, …: small amounts of either sign stay small."""
    return ((numbers << 1) ^ (numbers >> 63)).astype(np.uint64)


def from_uvarint(raw: bytes) -> npt.NDArray[np.uint64]:
    octets = np.frombuffer(raw, np.uint8)
    last = np.flatnonzero(octets < 0x80)
    start = np.concatenate(([0], last[:-1] + 1))
    numbers = np.zeros(len(last), np.uint64)
    for place in range(int((last - start).max(initial=-1)) + 1):
        still = np.flatnonzero(last - start >= place)
        bits = (octets[start[still] + place] & 0x7F).astype(np.uint64)
        numbers[still] |= bits << np.uint64(7 * place)
    return numbers


def from_zigzag(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    return (numbers >> np.uint64(1)).astype(np.int64) ^ -(numbers & np.uint64(1)).astype(np.int64)
