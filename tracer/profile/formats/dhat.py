"""DHAT's JSON, of valgrind or Rust's dhat crate, to bytes and blocks in all, at the peak and at the end: the importer.

https://valgrind.org/docs/manual/dh-manual.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tracer.profile.errors import MalformedProfile
from tracer.profile.formats.json_document import FrameKeys, document, rows, whole
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text
from tracer.profile.formats.valgrind_frames import frame_name
from tracer.profile.model import Number, Profile, ValueType

NAME = "dhat"
TITLE = "DHAT"

_VERSION = re.compile(r'\{\s*"dhatFileVersion"\s*:')
# By the keys of a program point.
_VALUE_TYPES = {
    "gb": ValueType("peak_bytes", "bytes", "level", "Bytes held when the program held most"),
    "gbk": ValueType("peak_objects", "objects", "level", "Blocks held when the program held most"),
    "eb": ValueType("end_bytes", "bytes", "level", "Bytes held when the program ended"),
    "ebk": ValueType("end_objects", "objects", "level", "Blocks held when the program ended"),
    "tb": ValueType("allocated_bytes", "bytes", "flow", "Bytes allocated in all, freed since or not"),
    "tbk": ValueType("allocated_objects", "objects", "flow", "Blocks allocated in all, freed since or not"),
}


def matches(head: bytes) -> bool:
    return _VERSION.match(head_text(head).lstrip()) is not None


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    found = document(steps)
    if found.get("dhatFileVersion") != 2:
        raise MalformedProfile(f"DHAT files of version {str(found.get('dhatFileVersion'))[:20]} are not read, only 2")
    names = [_name(str(text)) for text in rows(found, "ftbl")]
    points = rows(found, "pps")
    keys = [key for key in _VALUE_TYPES if any(isinstance(point, dict) and key in point for point in points)]
    sums = StackSums([_VALUE_TYPES[key] for key in keys], reading.limits)
    frame_keys = FrameKeys(names, sums)
    for point in points:
        stack = frame_keys.of(reversed(rows(point, "fs")))
        sums.add_key(stack or sums.key(["[stack not recorded]"]), _values(point, keys))
    profile = sums.finish("the file holds no program point: without --mode=heap nothing is allocated")
    profile.capture = {"command": str(found.get("cmd", ""))}
    return profile


def _values(point: dict[str, Any], keys: list[str]) -> list[Number]:
    values = [point.get(key, 0) for key in keys]
    if all(type(value) is int for value in values):  # as in all files that are whole
        return values
    return [whole(value, key) for value, key in zip(values, keys, strict=True)]


def _name(text: str) -> str:
    return frame_name(text) or text
