"""Mode sampled on a program with much memory: estimates within their error, exact counts, both kinds of links."""

from __future__ import annotations

import math

import pytest

SAMPLE_BYTES = 16_384
LINKS = {
    "a session link": {},
    "a link each for entries and returns": {"session_links": 0},
    "a perf event for each probe": {"multi_links": 0},
}
# Function of tests/programs/many.c: outstanding bytes and objects, allocated bytes and objects.
TRUTH = {
    "keep_small": (4_000_000, 40_000, 4_000_000, 40_000),
    "keep_medium": (20_000_000, 2_000, 20_000_000, 2_000),
    "keep_large": (20 << 20, 20, 20 << 20, 20),
    "free_half": (10_000_000, 2_000, 20_000_000, 4_000),
    "keep_arrays": (20_000_000, 2_000, 20_000_000, 2_000),
    "grow": (20_000_000, 1_000, 30_000_000, 2_000),
    "fail": (0, 0, 0, 0),
}


@pytest.fixture(scope="module", params=LINKS, ids=str)
def recorded(request, launch, record):
    options = {"unwind": "fp"} | LINKS[request.param]
    return record(launch("many"), "malloc", mode="sampled", sample_bytes=SAMPLE_BYTES, **options)


@pytest.mark.parametrize("function", TRUTH)
def test_an_estimate_is_as_near_to_the_truth_as_its_samples_allow(recorded, function):
    truth = TRUTH[function]
    samples = [size / SAMPLE_BYTES for size in (truth[0], truth[0], truth[2], truth[2])]

    for estimate, true, count in zip(recorded.values(function), truth, samples, strict=True):
        assert abs(estimate - true) <= 5 * true / math.sqrt(count or 1)


def test_large_blocks_are_all_followed(recorded):
    assert recorded.values("keep_large") == TRUTH["keep_large"]


def test_what_is_counted_of_all_allocations_is_exact(recorded):
    assert recorded.capture["counted"] == {
        "allocated_bytes": sum(truth[2] for truth in TRUTH.values()),
        "allocated_objects": sum(truth[3] for truth in TRUTH.values()),
    }


def test_bands_add_up_and_the_capture_says_that_values_are_estimates(recorded):
    for _, (held, _, _, _, *bands) in recorded.profile.rows():
        assert sum(bands) == held

    assert (recorded.capture["mode"], recorded.capture["sample_bytes"]) == ("sampled", SAMPLE_BYTES)
    assert recorded.capture["lost"] == {}
    assert "estimated from samples every 16" in recorded.profile.value_types[0].meaning


def test_the_caller_of_operator_new_is_there(launch, record):
    """With samples so dense that each block is one."""
    recorded = record(launch("allocations-frameless"), "malloc", mode="sampled", sample_bytes=1024, unwind="fp")

    assert recorded.values("keep_large") == (2 << 20, 2, 2 << 20, 2)
    assert recorded.tails("keep_new_array") <= {("operator new[]",)}
    assert recorded.tails("keep_large") == {("malloc",)}


def test_bounds_of_size_hold_for_samples(launch, record):
    recorded = record(launch("many"), "malloc", mode="sampled", sample_bytes=65_536, min_size=1 << 20, unwind="fp")

    assert recorded.profile.total(0) == recorded.values("keep_large")[0] == 20 << 20
    assert recorded.capture["counted"] == {"allocated_bytes": 20 << 20, "allocated_objects": 20}


def test_a_full_map_of_blocks_is_counted_and_what_was_allocated_stays(launch, record):
    options = {"mode": "sampled", "sample_bytes": SAMPLE_BYTES, "max_blocks": 128, "unwind": "fp"}
    recorded = record(launch("many"), "malloc", **options)

    assert recorded.capture["lost"]["allocation_map_full"] > 1000
    assert abs(recorded.values("keep_medium")[2] - 20_000_000) < 5 * 20_000_000 / math.sqrt(1200)


def test_auto_follows_every_block_of_a_quiet_program_and_says_why(launch, record):
    recorded = record(launch("leaky"), "malloc", mode="auto")

    assert recorded.capture["mode"] == "exact"
    assert "there were 0 allocations a second" in recorded.capture["mode_reason"]
    assert recorded.profile.total(0) == 94_208
