"""Mode calls on the known program: requested bytes and calls, exact, with their callers, in several builds."""

from __future__ import annotations

import pytest

BUILDS = {
    "frame pointers": ("allocations", {"unwind": "fp"}),
    "frame pointers, unwound": ("allocations", {"unwind": "dwarf"}),
    "no frame pointers": ("allocations-frameless", {"unwind": "fp"}),
    "no frame pointers, unwound": ("allocations-frameless", {"unwind": "dwarf"}),
    "linked statically": ("allocations-static", {"unwind": "fp"}),
    "a perf event for each probe": ("allocations", {"unwind": "fp", "multi_links": 0}),
}

# Function of tests/programs/allocations.cpp: requested bytes, calls. What can only fail is not there.
TRUTH = {
    "keep_malloc": (101_000, 101),
    "keep_calloc": (53_000, 53),
    "keep_realloc": (95_190, 38),
    "keep_realloc_of_null": (2_100, 7),
    "fail_realloc": (320, 5),
    "free_by_realloc": (192, 6),
    "keep_reallocarray": (3_663, 11),
    "overflow_reallocarray": (144, 3),
    "overflow_calloc": (0, 0),
    "keep_posix_memalign": (28_672, 7),
    "keep_aligned_alloc": (2_560, 5),
    "keep_memalign": (1_920, 3),
    "keep_valloc": (200, 2),
    "keep_pvalloc": (200, 2),
    "free_all": (32_288, 1009),
    "keep_empty": (0, 13),
    "fail_malloc": (0, 0),
    "keep_large": (2 << 20, 2),
    "keep_new": (136, 17),
    "keep_new_array": (2_200, 11),
    "keep_new_aligned": (640, 5),
    "keep_new_nothrow": (168, 7),
    "delete_all": (7_544, 46),
    "keep_in_thread": (48_192, 1004),
    "free_in_other_thread": (36_216, 503),
    "descend": (777, 1),
    "fork_child": (333, 1),
}

LEAVES = {
    "keep_malloc": "malloc",
    "keep_realloc_of_null": "realloc",
    "keep_reallocarray": "reallocarray",
    "keep_posix_memalign": "posix_memalign",
    "keep_pvalloc": "pvalloc",
    "keep_new": "operator new",
    "keep_new_array": "operator new[]",
    "keep_new_nothrow": "operator new[]",
}


@pytest.fixture(scope="module", params=BUILDS, ids=str)
def recorded(request, launch, record):
    name, options = BUILDS[request.param]
    return record(launch(name), "malloc", mode="calls", **options)


@pytest.mark.parametrize("function", TRUTH)
def test_a_function_has_exactly_the_calls_and_bytes_that_it_asked_for(recorded, function):
    assert recorded.values(function) == TRUTH[function]


@pytest.mark.parametrize("function", LEAVES)
def test_the_last_frame_is_the_function_called_and_the_one_before_its_caller(recorded, function):
    assert recorded.tails(function) == {(LEAVES[function],)}


def test_the_capture_says_what_was_recorded_and_that_nothing_is_lost(recorded):
    names = [known.name for known in recorded.profile.value_types]

    assert names == ["requested_bytes", "calls"]
    assert recorded.capture["mode"] == "calls"
    assert recorded.capture["lost"] == {}
    assert "free" not in {probe["symbol"] for probe in recorded.capture["probes"]}


def test_strdup_and_its_like_have_their_callers(launch, record):
    recorded = record(launch("copies"), "malloc", mode="calls", unwind="fp")

    assert recorded.tails("keep_strdup") == {("strdup",)}
    assert recorded.tails("keep_wcsdup") == {("wcsdup",)}


def test_more_stacks_than_the_map_holds_are_counted_as_lost_and_stay_in_the_totals(launch, record):
    recorded = record(launch("stacks"), "malloc", mode="calls", unwind="fp", max_stacks=1024)
    kept = sum(values[1] for stack, values in recorded.profile.rows() if len(stack) > 1)

    assert recorded.capture["lost"]["stack_map_full"] > 0
    assert kept + recorded.capture["lost"]["stack_map_full"] == recorded.profile.total(1)
