"""Value types by name: those of the collectors, bands of age with any bounds, and an import's own."""

from __future__ import annotations

import pytest

from tracer.protocol import COLLECTORS, RunSpec, value_type_named, value_types_of


@pytest.mark.parametrize(
    "name, words",
    [
        ("outstanding_bytes.lt10s", "Bytes allocated less than 10\u00a0s before the snapshot and not freed yet"),
        ("outstanding_bytes.lt5m", "Bytes allocated less than 5\u00a0min before the snapshot and not freed yet"),
        ("outstanding_bytes.older", "Bytes allocated before those of all younger bands"),
    ],
)
def test_a_band_of_age_is_a_level_of_bytes_that_says_what_it_is(name, words):
    known = value_type_named(name, "malloc")

    assert (known.name, known.unit, known.kind) == (name, "bytes", "level")
    assert words in known.meaning
    assert value_type_named(name) == known


@pytest.mark.parametrize("band", ["", "lt", "lt60s", "lt0s", "lt99h", "lt10s.lt1m", "young"])
def test_what_is_no_band_of_age_is_an_imports_own(band):
    name = f"outstanding_bytes.{band}"

    assert value_type_named(name).kind == "flow"


def test_another_collector_has_no_bands():
    assert value_type_named("outstanding_bytes.lt10s", "mmap").kind == "flow"
    assert value_types_of("mmap", {}) == COLLECTORS["mmap"].value_types


def test_bands_stand_behind_the_collectors_own_value_types():
    types = value_types_of("malloc", {"age_bands": "1m"})

    assert types[:4] == COLLECTORS["malloc"].value_types
    assert [known.name for known in types[4:]] == ["outstanding_bytes.lt1m", "outstanding_bytes.older"]
    assert value_types_of("malloc", {"age_bands": "none"}) == types[:4]


def test_a_spec_with_an_option_that_can_not_be_is_refused():
    spec = RunSpec("r-test", "malloc", 1, options={"age_bands": "soon"}).to_dict()

    with pytest.raises(ValueError, match="option age_bands is 'soon'"):
        RunSpec.from_dict(spec)
