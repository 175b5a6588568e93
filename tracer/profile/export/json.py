"""A profile to JSON: value types, frames once, and stacks as numbers of frames, root first, with their values.

{"value_types": [{"name": "outstanding_bytes", "unit": "bytes", "kind": "level", "meaning": "…"}], "capture": {…},
 "frames": ["main", "load_index"], "stacks": [[0, 1]], "values": [[4096]]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice
from typing import TextIO

from tracer.profile.model import Profile


def write_json(profile: Profile, out: TextIO) -> None:
    """`values` has a row for each stack, in the order of `value_types`."""
    head = {
        "value_types": [asdict(known) for known in profile.value_types],
        "capture": dict(profile.capture),
        "frames": profile.names,
    }
    out.write(json.dumps(head, ensure_ascii=False)[:-1])
    out.write(', "stacks": [')
    write_joined(out, (str(memoryview(key).cast("i").tolist()) for key in profile.row_by_key))
    out.write('], "values": [')
    rows = profile.row_by_key.values()
    write_joined(out, (str([column[row] for column in profile.columns]) for row in rows))
    out.write("]}\n")


def write_joined(out: TextIO, parts: Iterable[str]) -> None:
    """With commas, some at a time. Lists of numbers are the same text in Python and in JSON."""
    left, comma = iter(parts), ""
    while step := list(islice(left, _PARTS_A_STEP)):
        out.write(comma + ", ".join(step))
        comma = ", "


_PARTS_A_STEP = 4096
