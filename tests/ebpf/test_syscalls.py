"""brk and mmap on programs that move known amounts, with and without frame pointers."""

from __future__ import annotations

import pytest

PAGE = 4096

# Functions of tests/programs/heap.c: bytes, calls, failed calls. The first sbrk of a program asks where the heap ends.
HEAP = {
    "grow": (11 * 3 * PAGE, 12, 0),
    "grow_oddly": (PAGE, 2, 0),
    "shrink": (-5 * PAGE, 1, 0),
    "ask": (0, 7, 0),
    "ask_too_much": (0, 3, 3),
}

# Functions of tests/programs/mappings.c: outstanding pages, mapped pages, calls.
MAPPINGS = {
    "keep": (5 * 64, 5 * 64, 5),
    "give_back": (0, 13 * 32, 13),
    "give_back_parts": (70, 100, 1),
    "map_over": (40, 56, 2),
    "move": (53, 61, 2),
    "fail": (0, 0, 0),
    "map_a_file": (1, 1, 1),
}


@pytest.fixture(scope="module", params=["heap", "heap-frameless"])
def heap(request, launch, record):
    return record(launch(request.param), "brk")


@pytest.fixture(scope="module", params=["mappings", "mappings-frameless"])
def mappings(request, launch, record):
    return record(launch(request.param), "mmap")


@pytest.mark.parametrize("function", HEAP)
def test_a_function_moves_the_heaps_end_by_exactly_its_bytes(heap, function):
    assert heap.values(function) == HEAP[function]


def test_the_heap_moved_by_the_sum_of_all(heap):
    assert heap.profile.total() == sum(values[0] for values in HEAP.values())
    assert heap.capture["lost"] == {}


def test_sbrk_keeps_its_caller(heap):
    assert heap.tails("shrink") == {("sbrk", "brk")}
    assert heap.tails("ask") == {("syscall",)}


@pytest.mark.parametrize("function", MAPPINGS)
def test_a_function_has_exactly_the_pages_that_it_maps_and_keeps(mappings, function):
    outstanding, mapped, calls = MAPPINGS[function]

    assert mappings.values(function) == (outstanding * PAGE, mapped * PAGE, calls)


def test_nothing_else_is_mapped_and_nothing_lost(mappings):
    assert mappings.profile.total() == sum(values[0] for values in MAPPINGS.values()) * PAGE
    assert mappings.capture["lost"] == {}


def test_mmap_and_mremap_keep_their_callers(mappings):
    assert mappings.tails("keep") == {("mmap",)}
    assert mappings.tails("move") == {("mmap",), ("mremap",)}


def test_a_full_ring_buffer_is_counted(launch, recording_of):
    workload = launch("mappings")

    with recording_of(workload, "mmap", ring_pages=8) as recording:
        workload.work()  # nobody takes records out meanwhile, and one is more than half of the buffer
        progress = recording.progress()

    assert progress.lost["ring_buffer_full"] > 0
    assert progress.events + progress.lost["ring_buffer_full"] == 39  # calls of the program that succeed


def test_stacks_resolve_when_records_are_read_after_the_exit(launch, recording_of):
    workload = launch("heap")

    with recording_of(workload, "brk") as recording:
        workload.work()
        workload.exit()
        profile = recording.snapshot()

    assert {stack[-3:] for stack, _ in profile.rows() if "shrink" in stack} == {("shrink", "sbrk", "brk")}
