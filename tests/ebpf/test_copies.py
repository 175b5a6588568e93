"""Library functions that allocate for their caller: exact numbers, under the names that the program called."""

from __future__ import annotations

import pytest

BUILDS = {
    "frame pointers": ("copies", {}),
    "no frame pointers": ("copies-frameless", {"unwind": "fp"}),
    "no frame pointers, unwound": ("copies-frameless", {}),
    "linked statically": ("copies-static", {}),
    "a preloaded allocator": ("copies", {}),
    "a perf event for each probe": ("copies", {"multi_links": 0}),
}

# Function of tests/programs/copies.c: the last frame; outstanding bytes and objects, allocated bytes and objects.
TRUTH = {
    "keep_strdup": ("strdup", (1010, 101, 1010, 101)),
    "keep_strndup": ("strndup", (265, 53, 265, 53)),
    "keep_wcsdup": ("wcsdup", (1240, 31, 1240, 31)),
    "free_strdup": ("strdup", (0, 0, 10_090, 1009)),
    "keep_asprintf": ("asprintf", (817, 43, 817, 43)),
    "keep_long_asprintf": ("asprintf", (65_013, 13, 65_013, 13)),
    "keep_checked_asprintf": ("asprintf", (170, 17, 170, 17)),
    "free_asprintf": ("asprintf", (0, 0, 5030, 503)),
    "keep_getline": ("getline", (3480, 29, 3480, 29)),
    "reuse_getline": ("getline", (120, 1, 120, 1)),
    "grow_getline": ("getline", (301, 1, 421, 2)),
    "free_getline": ("getline", (0, 0, 840, 7)),
    "keep_at_end": ("getline", (360, 3, 360, 3)),
    "keep_getdelim": ("getdelim", (1320, 11, 1320, 11)),
}
NOTHING = (0, 0, 0, 0)


@pytest.fixture(scope="module", params=BUILDS, ids=str)
def recorded(request, launch, record, programs):
    name, options = BUILDS[request.param]
    preloaded = {"LD_PRELOAD": str(programs / "libpool.so")} if "preloaded" in request.param else {}
    return record(launch(name, **preloaded), "malloc", **options)


@pytest.mark.parametrize("function", TRUTH)
def test_a_function_has_exactly_what_is_copied_for_it(recorded, function):
    leaf, values = TRUTH[function]

    assert recorded.values(function) == values
    assert recorded.tails(function) == {(leaf,)}


def test_what_a_list_of_arguments_makes_counts_for_who_passed_it_on(recorded):
    assert recorded.values("vasprintf") == (190, 19, 190, 19)
    assert recorded.callers("vasprintf") == {"formatted"}


@pytest.mark.parametrize("function", ["fail_strdup", "fail_asprintf"])
def test_what_fails_allocates_nothing(recorded, function):
    assert recorded.values(function) == NOTHING


def test_a_call_of_malloc_after_a_copy_is_its_own(recorded):
    by_leaf = {stack[-1]: tuple(values[:4]) for stack, values in recorded.profile.rows() if "keep_malloc" in stack}

    assert by_leaf == {"strdup": (0, 0, 230, 23), "malloc": (23_000, 23, 23_000, 23)}


def test_nothing_is_lost(recorded):
    assert recorded.capture["lost"] == {}


def test_with_frame_pointers_all_callers_are_there(launch, record):
    recorded = record(launch("copies"), "malloc")

    for function, (leaf, _) in TRUTH.items():
        stacks = {stack[-4:] for stack, _ in recorded.profile.rows() if function in stack}
        assert stacks == {("main", "run", function, leaf)}
