"""Libraries and programs that come while recording: probes follow them, and notes say what was missed."""

from __future__ import annotations

import time

import pytest


def wait_until(recording, is_so):
    deadline = time.monotonic() + 10
    while not is_so(recording.snapshot().capture):
        assert time.monotonic() < deadline
        recording.wait(0.05)


def probed(module):
    return lambda capture: any(probe["module"].startswith(module) for probe in capture["probes"])


@pytest.fixture(scope="module")
def loaded(launch, recording_of, by_function):
    workload = launch("late_loader")
    with recording_of(workload, "malloc") as recording:
        workload.work()
        wait_until(recording, probed("liblate.so"))
        wait_until(recording, probed("libstdc++"))
        workload.work()
        return by_function(recording.snapshot())


def test_operators_new_of_a_runtime_that_is_loaded_later_are_exact(loaded):
    assert loaded.values("keep_by_new") == (3400, 17, 3440, 22)


def test_exceptions_of_operators_new_that_came_later_reach_their_catch(loaded):
    own = [
        values[:4] for stack, values in loaded.profile.rows()
        if stack[-2] == "keep_after_bad_alloc" and stack[-1].startswith("operator new")
    ]  # fmt: skip

    assert own == [[160, 4, 160, 4]]


def test_an_allocator_that_is_loaded_later_is_followed(loaded):
    assert loaded.values("keep_from_pool") == (1984, 31, 2084, 32)
    assert loaded.tails("keep_from_pool") == {("mi_malloc",)}
    assert loaded.capture["allocator"] == "libc.so.6"
    assert loaded.capture["allocators"] == ["libc.so.6", "liblate.so"]


def test_what_was_allocated_before_the_probes_came_is_a_note(loaded):
    (note,) = (note for note in loaded.capture["notes"] if "liblate.so" in note)

    assert note.startswith("Loaded while recording, so its own calls are missing for ")
    assert "libstdc++" in note


def test_a_program_that_the_process_becomes_is_followed(launch, recording_of, by_function, programs):
    workload = launch("replaced", NEXT=str(programs / "leaky-static"))

    with recording_of(workload, "malloc") as recording:
        workload.begin()
        workload.await_ready()
        wait_until(recording, probed("leaky-static"))
        workload.work()
        recorded = by_function(recording.snapshot())

    assert recorded.capture["events"] == 41 + 23 + 2 * 1009
    assert recorded.values("keep_before_exec") == (41 * 64, 41, 41 * 64, 41)
    assert recorded.values("leak_cache") == (23 * 4096, 23, 23 * 4096, 23)
    assert recorded.values("serve_requests") == (0, 0, 1009 * 32, 1009)
    assert any("became another program" in note for note in recorded.capture["notes"])
