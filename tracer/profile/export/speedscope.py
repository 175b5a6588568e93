"""A profile to speedscope's JSON, one graph for each value type.

https://www.speedscope.app/file-format-schema.json
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TextIO

from tracer.profile.model import Profile, ValueType

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_UNITS = {"bytes": "bytes", "nanoseconds": "nanoseconds", "microseconds": "microseconds", "seconds": "seconds"}


def write_speedscope(profile: Profile, out: TextIO, *, name: str = "memflame") -> None:
    """Stacks with a value that is not 0. What is negative has no width there, and is left out and named."""
    frames = ",".join(json.dumps({"name": text}, ensure_ascii=False) for text in profile.names)
    head = json.dumps({"$schema": _SCHEMA, "exporter": "memflame", "name": name, "activeProfileIndex": 0})
    out.write(f'{head[:-1]}, "shared": {{"frames": [{frames}]}}, "profiles": [')
    for column, known in enumerate(profile.value_types):
        out.write("," if column else "")
        for part in _profile(profile, column, known):
            out.write(part)
    out.write("]}\n")


def _profile(profile: Profile, column: int, known: ValueType) -> Iterator[str]:
    values = profile.columns[column]
    rows = [(key, values[row]) for key, row in profile.row_by_key.items() if values[row] > 0]
    about = {
        "type": "sampled",
        "name": f"{known.name}: {known.meaning}{_left_out(profile, column)}",
        "unit": _UNITS.get(known.unit, "none"),
        "startValue": 0,
        "endValue": sum(value for _, value in rows),
    }
    yield json.dumps(about, ensure_ascii=False)[:-1]
    stacks = (json.dumps(memoryview(key).cast("i").tolist()) for key, _ in rows)
    yield f', "samples": [{",".join(stacks)}]'
    yield f', "weights": [{",".join(json.dumps(value) for _, value in rows)}]}}'


def _left_out(profile: Profile, column: int) -> str:
    negative = sum(value for value in profile.columns[column] if value < 0)
    return f" (without {negative:,} in stacks below 0)" if negative else ""
