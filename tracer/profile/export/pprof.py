"""A profile to pprof's protocol buffers, packed with gzip, for any tool that reads them.

https://github.com/google/pprof/blob/main/proto/profile.proto
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import BinaryIO

from tracer.profile.model import Profile

_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING, _TIME, _DURATION = 1, 2, 4, 5, 6, 9, 10
_COMMENT, _DEFAULT_TYPE = 13, 14
_PPROF_UNITS = {"objects": "count", "calls": "count", "faults": "count", "pages": "count", "samples": "count"}
_MASK = (1 << 64) - 1
_PARTS_A_STEP = 4096


def write_pprof(profile: Profile, out: BinaryIO) -> None:
    """All value types, the first as default. The format knows whole numbers only: others are rounded, and what is not
    0 stays so."""
    with gzip.GzipFile("", fileobj=out, mode="wb", mtime=0) as packed:
        parts = _message(profile)
        while step := b"".join(islice(parts, _PARTS_A_STEP)):  # gzip is slow at small pieces
            packed.write(step)


def _message(profile: Profile) -> Iterator[bytes]:
    strings = _Strings()
    for known in profile.value_types:
        unit = _PPROF_UNITS.get(known.unit, known.unit)
        yield _bytes(_SAMPLE_TYPE, _number(1, strings[known.name]) + _number(2, strings[unit]))
    location = [_varint(number) for number in range(1, len(profile.names) + 1)]  # 0 is none
    for key, row in profile.row_by_key.items():
        locations = b"".join([location[number] for number in reversed(memoryview(key).cast("i"))])  # leaf first
        values = b"".join([_varint(_whole(column[row])) for column in profile.columns])
        yield _bytes(_SAMPLE, _bytes(1, locations) + _bytes(2, values))
    for number, name in enumerate(profile.names, start=1):
        text = strings[name]
        yield _bytes(_FUNCTION, _number(1, number) + _number(2, text) + _number(3, text))
        yield _bytes(_LOCATION, _number(1, number) + _bytes(4, _number(1, number)))
    yield from _moment(profile)
    for known in profile.value_types:
        yield _number(_COMMENT, strings[f"{known.name}: {known.meaning}"])
    if profile.value_types:
        yield _number(_DEFAULT_TYPE, strings[profile.value_types[0].name])
    for text_bytes in strings.all():
        yield _bytes(_STRING, text_bytes)


def _moment(profile: Profile) -> Iterator[bytes]:
    started_at, elapsed_s = profile.capture.get("started_at"), profile.capture.get("elapsed_s")
    if isinstance(started_at, str):
        yield _number(_TIME, int(datetime.fromisoformat(started_at).timestamp() * 1_000_000) * 1000)
    if isinstance(elapsed_s, int | float):
        yield _number(_DURATION, int(elapsed_s * 1e9))


class _Strings:
    """Numbers of texts in order of appearance; 0 is the empty one."""

    def __init__(self) -> None:
        self._number_by_text: dict[str, int] = {"": 0}

    def __getitem__(self, text: str) -> int:
        return self._number_by_text.setdefault(text, len(self._number_by_text))

    def all(self) -> Iterator[bytes]:
        return (text.encode("utf-8", "replace") for text in self._number_by_text)


def _whole(value: int | float) -> int:
    if isinstance(value, int):
        return value
    return round(value) or (1 if value > 0 else -1 if value < 0 else 0)


def _varint(value: int) -> bytes:
    value &= _MASK
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value
