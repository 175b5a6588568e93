"""Counting without recording: exact numbers of known work, and nothing left behind."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from pathlib import Path

import pytest

from tracer.bpf import syscalls
from tracer.bpf.program import KernelIds
from tracer.collectors import CollectorError
from tracer.collectors.counting import Counting, Counts, count_events
from tracer.process.target import read_status


@pytest.fixture
def counted(launch):
    """Counts of a program's known work."""

    def counts(name):
        workload = launch(name)
        with Counting(workload.pid) as counting:
            workload.work()
            return counting.read()

    return counts


@dataclass(frozen=True)
class Watch:
    """Readings of one program: while another one worked, after its own work, and at rest; and what is left then."""

    idle: Counts
    worked: Counts
    rested: Counts
    ours: KernelIds
    descriptors_left: int


@pytest.fixture(scope="module")
def watch(launch):
    watched, other = launch("leaky"), launch("leaky")
    descriptors = _open_descriptors()
    with Counting(watched.pid) as counting:
        other.work()
        idle = counting.read()
        watched.work()
        worked = counting.read()
        rested = counting.read().since(worked)
        ours = counting.kernel_ids()
    return Watch(idle, worked, rested, ours, _open_descriptors() - descriptors)


def _open_descriptors():
    gc.collect()  # what an earlier test left must not be closed between two counts
    return len(list(Path("/proc/self/fd").iterdir()))


def test_calls_bytes_and_callers_are_those_of_the_program(watch):
    assert (watch.worked.allocations, watch.worked.frees, watch.worked.callers) == (23 + 1009, 1009, 2)
    assert watch.worked.requested_bytes == 23 * 4096 + 1009 * 32


def test_another_process_with_the_same_library_does_not_count(watch):
    assert (watch.idle.allocations, watch.idle.frees) == (0, 0)


def test_two_readings_give_what_came_between_them(watch):
    assert (watch.rested.allocations, watch.rested.frees) == (0, 0)
    assert 0 < watch.rested.seconds < watch.worked.seconds
    assert watch.worked.cpu_seconds > 0


def test_no_program_link_or_descriptor_is_left(watch):
    assert watch.ours.programs and watch.ours.links
    assert not watch.ours.programs & set(syscalls.loaded_program_ids())
    assert not watch.ours.links & set(syscalls.link_ids())
    assert watch.descriptors_left == 0


def test_a_new_and_the_malloc_inside_of_it_are_one_allocation(counted):
    counts = counted("constructions")

    # 17, 11, 23 and 19 objects, and an exception for each of the 10 that are too large.
    assert counts.allocations == 70 + 10
    assert counts.calls_of("wraps") == 70 + 53  # new[] calls new
    assert counts.callers == 4 + 1
    assert counts.requested_bytes < 1 << 20  # what is refused counts for nothing


def test_threads_that_call_at_once_lose_no_call(counted):
    counts = counted("exchange")

    calls = {known.symbol: known.calls for known in counts.functions}
    assert calls["malloc"] == 8 * 4000 + 127


def test_system_calls_for_memory_are_counted_by_what_they_do(counted):
    counts = counted("mappings")

    assert (counts.mmap_calls, counts.munmap_calls) == (26 + 1, 13 + 2)
    assert counted("heap").brk_calls == 11 + 2 + 1 + 7 + 3 + 1  # the first sbrk asks where the heap ends


def test_page_faults_are_those_that_the_kernel_counts(launch):
    workload = launch("touch")
    with Counting(workload.pid) as counting:
        before = read_status(workload.pid)
        workload.work()
        counts, after = counting.read(), read_status(workload.pid)

    assert counts.minor_faults == after.minor_faults - before.minor_faults >= 1009 + 211 + 101 + 307 + 210


def test_a_static_program_is_counted_too(counted):
    counts = counted("leaky-static")

    assert (counts.allocations, counts.frees) == (23 + 1009, 1009)
    assert {known.module for known in counts.functions} == {"leaky-static"}


def test_counting_ends_with_the_process_and_keeps_what_it_had(launch):
    workload = launch("leaky")
    with Counting(workload.pid) as counting:
        workload.work()
        workload.exit()

        assert not counting.wait(30)
        assert counting.read().allocations == 23 + 1009


def test_counting_ends_when_it_is_asked_to(launch):
    counts = count_events(launch("leaky").pid, 60, should_stop=lambda: True)

    assert counts.seconds < 60


def test_a_process_that_is_not_there_is_refused():
    with pytest.raises(CollectorError, match="there is no process 4194303"):
        count_events(4_194_303, 1)
