"""Profiles for the tests of the profile library."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, settings

from tracer.profile.model import Number, Profile, ValueType

# Examples differ in cost and the machine is shared: a slow one is no failure.
settings.register_profile("memflame", deadline=None, max_examples=60, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=3000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "memflame"))

MakeProfile = Callable[[Mapping[str, Number]], Profile]


@pytest.fixture(scope="session")
def profile_of() -> MakeProfile:
    """`profile_of({"main;f": 3})`: a profile of outstanding bytes."""

    def make(value_by_text: Mapping[str, Number]) -> Profile:
        is_float = any(isinstance(value, float) for value in value_by_text.values())
        is_signed = any(value < 0 for value in value_by_text.values())
        meaning = "Bytes allocated while tracing and not freed yet"
        known = ValueType("outstanding_bytes", "bytes", "level", meaning, is_signed=is_signed, is_float=is_float)
        profile = Profile((known,))
        for text, value in value_by_text.items():
            profile.add(text.split(";"), [value])
        return profile

    return make
