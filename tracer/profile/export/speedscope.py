"""A profile to speedscope's JSON, one graph for each value type.

https://www.speedscope.app/file-format-schema.json
"""

from __future__ import annotations

import json
from typing import TextIO

from tracer.profile.export.json import write_joined
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
        _write_profile(profile, column, known, out)
    out.write("]}\n")


def _write_profile(profile: Profile, column: int, known: ValueType, out: TextIO) -> None:
    values = profile.columns[column]
    is_shown = [value > 0 for value in values]
    about = {
        "type": "sampled",
        "name": f"{known.name}: {known.meaning}{_left_out(profile, column)}",
        "unit": _UNITS.get(known.unit, "none"),
        "startValue": 0,
        "endValue": sum(value for value in values if value > 0),
    }
    out.write(json.dumps(about, ensure_ascii=False)[:-1] + ', "samples": [')
    shown = ((key, row) for key, row in profile.row_by_key.items() if is_shown[row])
    write_joined(out, (str(memoryview(key).cast("i").tolist()) for key, _ in shown))
    out.write('], "weights": [')
    write_joined(out, (str(values[row]) for row in profile.row_by_key.values() if is_shown[row]))
    out.write("]}")


def _left_out(profile: Profile, column: int) -> str:
    negative = sum(value for value in profile.columns[column] if value < 0)
    return f" (without {negative:,} in stacks below 0)" if negative else ""
