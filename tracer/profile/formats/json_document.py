"""A file that is one JSON document to what it holds, as long as that fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from tracer.profile.errors import LimitExceeded, MalformedProfile
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import as_utf8

MAX_BYTES = 64 << 20  # as objects its numbers take eleven times as much: 0.8 GB


def document(steps: Iterator[bytes]) -> dict[str, Any]:
    """MalformedProfile unless it is a JSON object."""
    parts: list[bytes] = []
    size = 0
    for step in as_utf8(steps):
        parts.append(step)
        size += len(step)
        if size > MAX_BYTES:
            raise LimitExceeded("size of a JSON document in bytes", limit=MAX_BYTES, value=MAX_BYTES, at_least=True)
    text = b"".join(parts)
    parts.clear()  # or the text would be there twice
    try:
        found = orjson.loads(text)
    except ValueError as error:
        raise MalformedProfile(f"the file is no whole JSON document: {error}") from None
    if not isinstance(found, dict):
        raise MalformedProfile("the file is JSON, but no object")
    return found


def rows(found: Any, *keys: str) -> list[Any]:
    """The list at a path of keys; MalformedProfile names the path if there is none."""
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, list):
        raise MalformedProfile(f"there is no list at {'.'.join(keys)}")
    return found


def number(value: Any, what: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedProfile(f"{what} is {str(value)[:40]!r}, expected a number")
    return value


def whole(value: Any, what: str) -> int:
    found = number(value, what)
    if found != found // 1:
        raise MalformedProfile(f"{what} is {str(value)[:40]!r}, expected a whole number")
    return int(found)


def item(values: list[Any], place: Any, what: str) -> Any:
    """One of a list by its number."""
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(values):
        raise MalformedProfile(f"{what} is {str(place)[:40]!r}, there are {len(values):,}")
    return values[place]


class FrameKeys(dict[Any, bytes]):
    """What StackSums.add_key takes for a frame, by its number in a list of names."""

    def __init__(self, names: list[str], sums: StackSums) -> None:
        self._names, self._sums = names, sums

    def __missing__(self, place: Any) -> bytes:
        key = self[place] = self._sums.key([item(self._names, place, "number of a frame")])
        return key

    def of(self, stack: Iterable[Any]) -> bytes:
        """Of all these frames, root first."""
        try:
            return b"".join(map(self.__getitem__, stack))
        except TypeError:
            raise MalformedProfile("number of a frame is a list or an object") from None
