"""The mode of a malloc recording: what can be asked for, and what has no meaning together."""

from __future__ import annotations

import pytest

from tracer.options.errors import BadOption
from tracer.options.modes import ModeOptions, check_mode, size_text
from tracer.protocol import value_type_named, value_types_of


def test_a_spec_without_a_mode_is_exact():
    assert ModeOptions.of({}).mode == "exact"
    assert ModeOptions.of({}).facts() == {"mode": "exact"}


@pytest.mark.parametrize(
    ("collector", "options", "reason"),
    [
        ("malloc", {"mode": "fast"}, "option mode is 'fast', there is auto, exact, sampled, calls"),
        ("brk", {"mode": "exact"}, "option mode is 'exact', but brk has no modes"),
        ("malloc", {"mode": "sampled", "sample_bytes": 5}, "sample_bytes is 5, it must be from 1,024 to 1,073,741,824"),
        ("malloc", {"mode": "sampled", "sample_bytes": "512k"}, "sample_bytes is '512k', it must be from"),
        ("malloc", {"sample_bytes": 4096}, "sample_bytes is 4096, but mode exact takes no samples"),
        ("malloc", {"mode": "calls", "sample_bytes": 4096}, "but mode calls takes no samples"),
        ("malloc", {"mode": "calls", "older_than": "30s"}, "older_than is '30s', but mode calls follows no blocks"),
        ("malloc", {"mode": "calls", "age_bands": "10s"}, "age_bands is '10s', but mode calls follows no blocks"),
        ("malloc", {"mode": "calls", "min_size": 5}, "min_size is 5, but mode calls follows no blocks"),
    ],
)
def test_what_can_not_be_is_refused(collector, options, reason):
    with pytest.raises(BadOption, match=reason):
        check_mode(collector, options)


def test_calls_have_value_types_of_their_own():
    names = [known.name for known in value_types_of("malloc", {"mode": "calls"})]

    assert names == ["requested_bytes", "calls"]
    assert value_type_named("requested_bytes").meaning == "Bytes that allocator calls asked for while tracing"
    assert value_type_named("calls", "malloc").meaning == "Allocator calls while tracing"


def test_estimates_say_so_and_how_densely_they_were_sampled():
    known = value_types_of("malloc", {"mode": "sampled", "age_bands": "none"})

    assert known[0].meaning == (
        "Bytes allocated while tracing and not freed yet, estimated from samples every 512\N{NO-BREAK SPACE}kB"
    )


@pytest.mark.parametrize(
    ("size", "text"), [(1024, "1 kB"), (524_288, "512 kB"), (1 << 20, "1 MB"), (1_572_864, "1.5 MB")]
)
def test_a_size_is_short(size, text):
    assert size_text(size) == text.replace(" ", "\N{NO-BREAK SPACE}")
