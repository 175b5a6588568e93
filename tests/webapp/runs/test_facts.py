"""What a file says of itself, made fit for any database."""

from __future__ import annotations

import json
import math

from tracer.profile import tree
from tracer.profile.model import Profile, ValueType
from webapp.runs import facts


def test_no_nul_no_lone_surrogate_and_no_infinity_are_kept() -> None:
    profile = Profile(
        (ValueType("value", "value", "level", ""),), capture={"command": "a\0b\\0\ud800", "pid": math.inf}
    )
    profile.add(["main"], [1])
    profile.skip(7, "no\0value", "it has no value")

    fields = facts.of_snapshot(profile, tree.build(profile))

    assert fields["capture"] == {"command": "a\ufffdb\\0?", "pid": None}
    assert fields["skipped"] == [[7, "no\ufffdvalue", "it has no value"]]
    assert "u0000" not in json.dumps(fields)
