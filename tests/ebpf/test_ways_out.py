"""Calls that are under way when the recording begins, or that never return."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def recorded(launch, record):
    return record(launch("ways_out"), "malloc")  # it says that it is ready inside of malloc


def test_of_a_call_that_was_under_way_when_the_recording_began_only_what_it_calls_afterwards_is_counted(recorded):
    # The C library's malloc of 777 bytes, which that call ends with, and one of 40 behind it.
    assert recorded.values("keep_what_was_under_way") == (40, 1, 817, 2)


@pytest.mark.parametrize("function", ["leave_by_longjmp", "leave_by_exit"])
def test_a_call_that_is_left_by_a_longjmp_or_with_its_thread_allocates_nothing(recorded, function):
    assert recorded.values(function) == (0, 0, 0, 0)


def test_a_free_of_a_block_from_before_the_recording_changes_nothing(recorded):
    """It is no double free either: nobody knows the block."""
    assert recorded.values("free_early") == (50, 1, 50, 1)


def test_the_calls_after_them_are_exact(recorded):
    assert recorded.values("keep_afterwards") == (1100, 11, 1100, 11)
    assert recorded.tails("keep_afterwards") == {("malloc",)}
    assert recorded.capture["lost"] == {}


def test_calls_that_never_returned_are_told(recorded):
    assert "7 allocator calls were left by an exception or a longjmp and are not counted." in recorded.capture["notes"]
