"""A profile to JSON: value types, frames once, and stacks as numbers of frames, root first, with their values.

{"value_types": [{"name": "outstanding_bytes", "unit": "bytes", "kind": "level", "meaning": "…"}], "capture": {…},
 "frames": ["main", "load_index"], "stacks": [[0, 1]], "values": [[4096]]}
"""

from __future__ import annotations

import json
from dataclasses import asdict
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
    stacks = (json.dumps(memoryview(key).cast("i").tolist()) for key in profile.row_by_key)
    out.write(f', "stacks": [{", ".join(stacks)}]')
    values = (json.dumps([column[row] for column in profile.columns]) for row in profile.row_by_key.values())
    out.write(f', "values": [{", ".join(values)}]}}\n')
