"""Protocol buffers' wire format to fields, one after the other, each whole.

https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Iterator

from tracer.profile.errors import LimitExceeded, MalformedProfile

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {FIXED64: 8, FIXED32: 4}
_MAX_VARINT_BYTES = 10
_MASK = (1 << 64) - 1

Field = tuple[int, int, int | bytes]  # number, wire type, value


class Truncated(Exception):
    """The bytes end inside of a field."""


def varint(data: bytes, place: int) -> tuple[int, int]:
    """The number at a place, and the place after it."""
    if place < len(data) and data[place] < 128:  # as most are
        return data[place], place + 1
    value = shift = 0
    for count in range(_MAX_VARINT_BYTES):
        if place + count >= len(data):
            raise Truncated
        byte = data[place + count]
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _MASK, place + count + 1
        shift += 7
    raise MalformedProfile("a number has more than 10 bytes")


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def field_at(data: bytes, place: int, max_bytes: int) -> tuple[Field, int]:
    """The field at a place, and the place after it."""
    key, place = varint(data, place)
    number, kind = key >> 3, key & 7
    if kind == VARINT:
        value, place = varint(data, place)
        return (number, kind, value), place
    if kind == BYTES:
        size, place = varint(data, place)
    elif kind in _FIXED_BYTES:
        size = _FIXED_BYTES[kind]
    else:
        raise MalformedProfile(f"field {number} has wire type {kind}, which there is not")
    if size > max_bytes:
        raise LimitExceeded(f"length of field {number} in bytes", limit=max_bytes, value=size)
    if place + size > len(data):
        raise Truncated
    raw = data[place : place + size]
    return (number, kind, raw if kind == BYTES else int.from_bytes(raw, "little")), place + size


def fields(message: bytes) -> Iterator[Field]:
    """Of one message that is all there."""
    place = 0
    while place < len(message):
        try:
            field, place = field_at(message, place, len(message))
        except (Truncated, LimitExceeded):
            raise MalformedProfile("a message ends inside of a field") from None
        yield field


def stream_fields(steps: Iterator[bytes], max_bytes: int) -> Iterator[Field]:
    """Of a message that comes in parts; no more of it is held than one field needs, and one part."""
    data, place, taken = b"", 0, 0
    for step in steps:
        data, taken, place = data[place:] + step, taken + place, 0
        while place < len(data):
            try:
                field, place = field_at(data, place, max_bytes)
            except Truncated:
                break
            yield field
    if place < len(data):
        raise MalformedProfile(f"the file ends inside of the field that begins at byte {taken + place:,}")


def packed(value: int) -> bytes:
    """A number as it stands among packed ones."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
