"""speedscope's JSON, sampled or evented, to a value type for each of its profiles: the importer.

https://www.speedscope.app/file-format-schema.json
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tracer.profile.errors import MalformedProfile
from tracer.profile.formats.json_document import FrameKeys, document, number, rows
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text
from tracer.profile.model import Number, Profile, ValueType

NAME = "speedscope"
TITLE = "speedscope"

_SCHEMA = "speedscope.app/file-format-schema.json"
_UNITS = ("nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")
_WORDS = re.compile(r"[^a-z0-9_]+")
_MAX_NAME = 60


def matches(head: bytes) -> bool:
    text = head_text(head).lstrip()
    return text.startswith("{") and _SCHEMA in text


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    found = document(steps)
    names = [_name(frame) for frame in rows(found, "shared", "frames")]
    sums = StackSums([], reading.limits)
    keys = FrameKeys(names, sums)
    taken: Counter[str] = Counter()
    for profile in rows(found, "profiles"):
        if not isinstance(profile, dict):
            raise MalformedProfile("a profile is no object")
        column = sums.add_column(_value_type(profile, reading, taken))
        others: list[Number] = [0] * column
        for stack, value in _samples(profile):
            sums.add_key(keys.of(stack), [*others, value])
    return sums.finish("the file holds no sample")


def _samples(profile: dict[str, Any]) -> Iterator[tuple[list[Any], Number]]:
    if profile.get("type") == "sampled":
        return _sampled(profile)
    if profile.get("type") == "evented":
        return _evented(profile)
    raise MalformedProfile(f"a profile is of type {str(profile.get('type'))[:40]!r}, expected sampled or evented")


def _sampled(profile: dict[str, Any]) -> Iterator[tuple[list[Any], Number]]:
    samples, weights = rows(profile, "samples"), rows(profile, "weights")
    if len(samples) != len(weights):
        raise MalformedProfile(f"there are {len(samples):,} samples and {len(weights):,} weights")
    for stack, weight in zip(samples, weights, strict=True):
        if not isinstance(stack, list):
            raise MalformedProfile("a sample is no list of frames")
        yield stack or [], number(weight, "a weight")


def _evented(profile: dict[str, Any]) -> Iterator[tuple[list[Any], Number]]:
    """Frames open and close, one inside the other; what lies between two events belongs to all that are open."""
    stack: list[Any] = []
    last = number(profile.get("startValue"), "startValue")
    for event in rows(profile, "events"):
        kind, frame = (event.get("type"), event.get("frame")) if isinstance(event, dict) else (None, None)
        at = number(event.get("at") if isinstance(event, dict) else None, "the moment of an event")
        if stack and at != last:
            yield list(stack), at - last
        last = at
        if kind == "O":
            stack.append(frame)
        elif kind == "C" and stack and stack[-1] == frame:
            stack.pop()
        else:
            raise MalformedProfile(f"an event closes frame {str(frame)[:40]!r}, which is not the innermost one")


def _value_type(profile: dict[str, Any], reading: Reading, taken: Counter[str]) -> ValueType:
    """Named by the profile: what stands before a colon, as we write it, and numbered where names are the same."""
    text = str(profile.get("name") or "value").partition(":")[0].lower()
    name = _WORDS.sub("_", text).strip("_")[:_MAX_NAME] or "value"
    taken[name] += 1
    known = reading.resolve(name if taken[name] == 1 else f"{name}_{taken[name]}", None)
    is_float = any(isinstance(weight, float) for weight in _numbers(profile))
    unit = profile.get("unit")
    return replace(known, unit=str(unit) if unit in _UNITS else known.unit, is_float=is_float)


def _numbers(profile: dict[str, Any]) -> Iterator[Any]:
    """Weights, or the moments whose distances they are."""
    for key in ("weights", "events"):
        values = profile.get(key)
        for value in values if isinstance(values, list) else []:
            yield value.get("at") if isinstance(value, dict) else value


def _name(frame: Any) -> str:
    if not isinstance(frame, dict) or not isinstance(frame.get("name"), str):
        raise MalformedProfile("a frame has no name")
    return str(frame["name"])
