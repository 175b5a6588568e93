"""Page faults: equal to the kernel's own count of the process, and known numbers at known functions."""

from __future__ import annotations

import pytest

from tracer.process.target import read_status


@pytest.fixture(scope="module")
def touched(launch, recording_of):
    """The kernel's count before and after, and the snapshot."""
    workload = launch("touch")
    with recording_of(workload, "page_faults") as recording:
        before = read_status(workload.pid)
        workload.work()
        after = read_status(workload.pid)
        return before, after, recording.snapshot()


@pytest.mark.parametrize(
    "tail, faults",
    [(("touch_each",), 1009), (("read_each",), 307), (("fill_from_file", "read"), 101)],
)
def test_a_function_has_as_many_faults_as_it_touches_fresh_pages(touched, tail, faults):
    _, _, profile = touched

    assert [values for stack, values in profile.rows() if stack[-len(tail) :] == tail] == [[faults, 0]]


def test_faults_in_a_library_function_without_a_frame_stand_below_its_caller(touched):
    _, _, profile = touched

    by_memset = [values for stack, values in profile.rows() if stack[-2] == "clear"]
    assert sum(minor for minor, _ in by_memset) == 211


def test_totals_are_those_that_the_kernel_counts_for_the_process(touched):
    before, after, profile = touched

    assert profile.total(0) == after.minor_faults - before.minor_faults
    assert profile.total(1) == after.major_faults - before.major_faults
    assert profile.capture["lost"] == {}
