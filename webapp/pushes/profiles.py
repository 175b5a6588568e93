"""A pushed profile to what decides where it goes: is it about memory, of which moment, of which interval."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tracer.profile.errors import LimitExceeded, ProfileError
from tracer.profile.formats import pprof
from tracer.profile.formats.unpack import head_of, unpack
from tracer.profile.formats.wire import fields, signed, stream_fields
from tracer.profile.model import Limits
from webapp.errors import ApiError

MOST_INFLATED_BYTES = 128 << 20  # the web process looks into the profile: a heap of 100,000 stacks has about 20 MB
MOST_FIELD_BYTES = 1 << 20
_SAMPLE_TYPE, _SAMPLE, _STRING, _TIME, _DURATION = 1, 2, 6, 9, 10
_OBJECT_TYPES = frozenset({"inuse_objects", "alloc_objects", "live_objects", "live"})
_LAST_SECOND = 253_402_300_799  # of the year 9999
LONGEST_INTERVAL = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Pushed:
    """One profile of a push: its bytes as they came, and all that was said of it beside them."""

    labels: Mapping[str, str]
    body: bytes
    kind: str = ""  # as the sender calls it: memory, process_cpu; empty if it does not
    began_at: datetime | None = None
    ended_at: datetime | None = None
    is_interval: bool | None = None  # flows are of the interval, not since the process began; None: not said
    is_memory: bool | None = None  # None: the profile itself tells
    value_type: Mapping[str, Any] = field(default_factory=dict)  # of text without one, as ValueType has it


@dataclass(frozen=True, slots=True)
class Head:
    """What a pprof says of itself: sample types with their units, when it was taken, for how long."""

    types: tuple[tuple[str, str], ...]
    samples: int
    taken_at: datetime | None
    duration_s: float

    @property
    def is_memory(self) -> bool:
        return any(unit == "bytes" or name in _OBJECT_TYPES for name, unit in self.types)

    @property
    def kind(self) -> str:
        """For a profile whose sender does not name one."""
        return "memory" if self.is_memory else (self.types[0][0] if self.types else "nothing")


def head_of_pprof(body: bytes) -> Head:
    """ApiError says why these bytes are no pprof: 413 at a limit, else 422."""
    try:
        return _head(body)
    except LimitExceeded as error:
        raise ApiError(413, f"The profile was not stored: {error}.") from None
    except ProfileError as error:
        raise ApiError(422, f"The profile was not stored: {error}.") from None


def _head(body: bytes) -> Head:
    first, steps = head_of(unpack(io.BytesIO(body), Limits(inflated_bytes=MOST_INFLATED_BYTES)))
    if not pprof.matches(first):
        raise ProfileError(f"it is no pprof, it begins with {first[:16]!r}")
    numbers: list[dict[int, int]] = []
    strings: list[bytes] = []
    scalars, samples = {_TIME: 0, _DURATION: 0}, 0
    for number, _, value in stream_fields(steps, MOST_FIELD_BYTES):
        if isinstance(value, int):
            scalars[number] = value
        elif number == _SAMPLE_TYPE:
            numbers.append({place: text for place, _, text in fields(value) if isinstance(text, int)})
        elif number == _STRING:
            strings.append(value)
        samples += number == _SAMPLE
    types = [(_text(strings, named.get(1, 0)), _text(strings, named.get(2, 0))) for named in numbers]
    taken_at, duration_s = (signed(scalars[number]) / 1e9 for number in (_TIME, _DURATION))
    return Head(tuple(types), samples, _moment(taken_at), _seconds(duration_s))


def _text(strings: list[bytes], place: int) -> str:
    return strings[place].decode("utf-8", "replace") if place < len(strings) else ""


def _moment(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if 0 < seconds < _LAST_SECOND else None


def _seconds(seconds: float) -> float:
    return seconds if 0 < seconds <= LONGEST_INTERVAL.total_seconds() else 0.0


def moment_of(text: str) -> datetime | None:
    """Of `from` and `until`: Unix time in seconds, milliseconds, microseconds or nanoseconds, as SDKs send it."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    while seconds > 1e11:
        seconds /= 1000
    return _moment(seconds)
