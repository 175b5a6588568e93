"""What a file says of itself, made fit for any database."""

from __future__ import annotations

import json
import math

import pytest

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

    assert (fields["capture"]["command"], fields["capture"]["pid"]) == ("a\ufffdb\\0?", None)
    assert fields["skipped"] == [[7, "no\ufffdvalue", "it has no value"]]
    assert "u0000" not in json.dumps(fields)


def test_a_file_is_judged_by_what_is_in_it_not_by_what_it_claims() -> None:
    claims = {"shares": {"unresolved": 0.0}, "grade": "A", "events": 100, "lost": {}}
    profile = Profile((ValueType("value", "value", "level", ""),), capture=claims)
    profile.add(["main", "work"], [5])
    profile.add(["[unknown]"], [95])

    capture = facts.of_snapshot(profile, tree.build(profile))["capture"]

    assert capture["shares"]["unresolved"] == pytest.approx(95 / 105)
    assert capture["unresolved_by_module"] == {"[unknown]": 95}
    assert capture["grade"] == "D"
