"""Every allocator function of a known program, with exact numbers, in several builds and ways of probing."""

from __future__ import annotations

import pytest

BUILDS = {
    "frame pointers": ("allocations", {"unwind": "fp"}, {}),
    "unwound": ("allocations", {"unwind": "dwarf"}, {}),
    "linked statically": ("allocations-static", {"unwind": "fp"}, {}),
    "no frame pointers": ("allocations-frameless", {"unwind": "fp"}, {}),
    "no frame pointers, unwound": ("allocations-frameless", {"unwind": "dwarf"}, {}),
    "a perf event for each probe": ("allocations", {"unwind": "fp", "multi_links": 0}, {}),
    "no age bands": ("allocations", {"unwind": "fp", "age_bands": "none"}, {}),
    "jemalloc": ("allocations", {"unwind": "fp"}, {"LD_PRELOAD": "libjemalloc.so.2"}),
    "tcmalloc": ("allocations", {"unwind": "fp"}, {"LD_PRELOAD": "libtcmalloc_minimal.so.4"}),
    "mimalloc": ("allocations", {"unwind": "fp"}, {"LD_PRELOAD": "libmimalloc.so.2", "NEW_ABORTS": "1"}),
    "jemalloc, no frame pointers": ("allocations-frameless", {"unwind": "fp"}, {"LD_PRELOAD": "libjemalloc.so.2"}),
}

# Function of tests/programs/allocations.cpp: outstanding bytes and objects, allocated bytes and objects.
TRUTH = {
    "keep_malloc": (101_000, 101, 101_000, 101),
    "keep_calloc": (53_000, 53, 53_000, 53),
    "keep_realloc": (95_000, 19, 95_190, 38),
    "keep_realloc_of_null": (2_100, 7, 2_100, 7),
    "fail_realloc": (320, 5, 320, 5),
    "free_by_realloc": (0, 0, 192, 3),
    "keep_reallocarray": (3_663, 11, 3_663, 11),
    "overflow_reallocarray": (144, 3, 144, 3),
    "overflow_calloc": (0, 0, 0, 0),
    "keep_posix_memalign": (28_672, 7, 28_672, 7),
    "fail_posix_memalign": (0, 0, 0, 0),
    "keep_aligned_alloc": (2_560, 5, 2_560, 5),
    "keep_memalign": (1_920, 3, 1_920, 3),
    "keep_valloc": (200, 2, 200, 2),
    "keep_pvalloc": (200, 2, 200, 2),
    "free_all": (0, 0, 32_288, 1009),
    "keep_empty": (0, 13, 0, 13),
    "fail_malloc": (0, 0, 0, 0),
    "keep_large": (2 << 20, 2, 2 << 20, 2),
    "free_large": (0, 0, 2 << 20, 2),
    "keep_new": (136, 17, 136, 17),
    "keep_new_array": (2_200, 11, 2_200, 11),
    "keep_new_aligned": (640, 5, 640, 5),
    "keep_new_nothrow": (168, 7, 168, 7),
    "delete_all": (0, 0, 7_544, 46),
    "keep_in_thread": (48_192, 1004, 48_192, 1004),
    "free_in_other_thread": (0, 0, 36_216, 503),
    "descend": (777, 1, 777, 1),
    "fork_child": (333, 1, 333, 1),
}

# What an allocator does in its own way.
OWN_TRUTH = {
    "mimalloc": {"free_by_realloc": (0, 3, 192, 6)},  # realloc(block, 0) gives another block, of 0 bytes
}

LEAVES = {
    "keep_malloc": "malloc",
    "keep_calloc": "calloc",
    "keep_realloc_of_null": "realloc",
    "keep_reallocarray": "reallocarray",
    "keep_posix_memalign": "posix_memalign",
    "keep_valloc": "valloc",
    "keep_pvalloc": "pvalloc",
    "keep_new": "operator new",
    "keep_new_array": "operator new[]",
    "keep_new_aligned": "operator new",
    "keep_new_nothrow": "operator new[]",
}


# Where new and new[] are one function, by any name, its calls are those of new.
OWN_LEAVES = {
    "tcmalloc": {"keep_new_array": "operator new", "keep_new_nothrow": "operator new"},
    "mimalloc": {"keep_new_array": "operator new"},
}


@pytest.fixture(scope="module", params=BUILDS, ids=str)
def build(request):
    return request.param


@pytest.fixture(scope="module")
def recorded(build, launch, record):
    name, options, environment = BUILDS[build]
    return record(launch(name, **environment), "malloc", **options)


@pytest.mark.parametrize("function", TRUTH)
def test_a_function_has_exactly_the_bytes_and_objects_that_it_keeps(recorded, build, function):
    assert recorded.values(function) == OWN_TRUTH.get(build, {}).get(function, TRUTH[function])


@pytest.mark.parametrize("function", LEAVES)
def test_the_last_frame_is_the_allocator_function_and_the_one_before_its_caller(recorded, build, function):
    assert recorded.tails(function) == {(OWN_LEAVES.get(build, {}).get(function, LEAVES[function]),)}


def test_only_what_succeeds_after_a_thrown_bad_alloc_is_counted(recorded, build):
    # The exceptions themselves are allocated below this function too.
    own = [
        values for stack, values in recorded.profile.rows()
        if stack[-2] == "keep_after_bad_alloc" and stack[-1].startswith("operator new")
    ]  # fmt: skip

    assert [values[:4] for values in own] == ([] if build == "mimalloc" else [[360, 9, 360, 9]])


def test_the_capture_tells_the_allocator_and_all_that_were_found(recorded, build):
    library = BUILDS[build][2].get("LD_PRELOAD", "").partition(".so")[0]
    own = "allocations-static" if build == "linked statically" else "libc.so.6"
    allocator, others = recorded.capture["allocator"], recorded.capture["allocators"]

    assert allocator.startswith(library or own)
    assert others == ([own, allocator] if library else [own])


def test_nothing_is_lost(recorded):
    assert recorded.capture["lost"] == {}


def test_no_instruction_has_more_than_one_probe(recorded):
    places = [(probe["module"], probe["symbol"], probe["offset"]) for probe in recorded.capture["probes"]]

    assert len(places) == len(set(places))


# What the child keeps counts where it is followed; the block that it inherited and frees is its parent's still.
FOLLOWED = TRUTH | {"fork_child": (333 + 1000, 11, 333 + 1000, 11)}


@pytest.fixture(scope="module")
def followed(launch, recording_of, by_function, programs):
    """The same program, begun by exec of a process that is recorded already, beside another one that does nothing."""
    idle = launch("allocations")
    shell = launch("sh", "env", arguments=["-c", 'echo ready $$; read line; exec "$0"', programs / "allocations"])
    with recording_of([idle, shell], "malloc", follow_children=1) as running:
        shell.begin()
        shell.await_ready()
        shell.work()
        return by_function(running.snapshot())


@pytest.mark.parametrize("function", FOLLOWED)
def test_a_program_that_a_followed_process_execs_has_exactly_the_same(followed, function):
    assert followed.values(function) == FOLLOWED[function]


@pytest.mark.parametrize("function", LEAVES)
def test_its_operators_new_are_told_apart_at_their_own_addresses(followed, function):
    assert followed.tails(function) == {(LEAVES[function],)}
