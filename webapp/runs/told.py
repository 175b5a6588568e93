"""What whoever stored a snapshot told of it, and its bytes do not, into the words of its value types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tracer.profile.model import Profile, ValueType

KEYS = ("interval_s", "value_type")  # of the `capture` that a snapshot has before it is read


def apply(told: Mapping[str, Any], profile: Profile) -> None:
    """`value_type` names the numbers of a text that has one column; flows are of the last `interval_s` seconds, 0 if
    only the sender knows how many."""
    if "value_type" in told and len(profile.value_types) == 1:
        named = ValueType(**told["value_type"])
        profile.value_types = (replace(named, is_float=profile.value_types[0].is_float),)
    if "interval_s" in told:
        profile.value_types = tuple(_of_interval(known, told["interval_s"]) for known in profile.value_types)
    profile.capture = {**profile.capture, **{key: told[key] for key in KEYS if key in told}}


def _of_interval(known: ValueType, seconds: float) -> ValueType:
    if known.kind == "level":
        return known
    interval = f"in the last {round(seconds, 1) or seconds:g} s" if seconds else "since the push before"
    return replace(known, meaning=f"{known.meaning}, {interval}")
