"""What a recording takes, measured while it runs, and the brake that ends it above its budget."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tracer.bpf import syscalls
from tracer.collectors.session import run_session
from tracer.protocol import RunSpec


class Kept:
    """A listener that keeps the last profile, and lets the program work once it is attached."""

    def __init__(self, workload):
        self.on_attached = workload.begin
        self.profile = None

    def on_progress(self, elapsed_s, progress):
        self.progress = progress

    def on_snapshot(self, seq, elapsed_s, profile, is_last):
        self.profile = profile


@pytest.fixture(scope="module")
def braked(launch):
    workload = launch("busy")
    kept = Kept(workload)
    spec = RunSpec("r-test", "malloc", workload.pid, duration_s=60, options={"budget": 2})
    outcome = run_session(spec, kept, lambda: False)
    return workload, outcome, kept.profile


def test_a_busy_program_is_released_by_a_small_budget(braked):
    _, outcome, profile = braked

    assert (outcome.reason, outcome.snapshots) == ("over_budget", 1)
    assert "its budget is 2\u00a0%: it was ended after" in outcome.words
    assert 5 <= profile.capture["elapsed_s"] < 10


def test_what_was_counted_until_then_is_exact(braked, by_function):
    _, _, profile = braked

    assert by_function(profile).values("keep") == (94_208, 23, 94_208, 23)
    assert profile.capture["lost"] == {}


def test_frees_of_blocks_from_before_the_recording_are_counted_as_unknown(braked, by_function):
    assert braked[2].capture["unknown_frees"] == 11
    assert by_function(braked[2]).values("free_old") == (256, 4, 256, 4)


def test_the_capture_says_how_much_the_recording_took(braked):
    overhead = braked[2].capture["overhead"]

    assert overhead["budget"] == 0.02
    assert 0.02 < overhead["share"] <= overhead["peak_share"] < 1.2  # one thread that is always in malloc or free
    assert overhead["own_share"] > 0
    assert overhead["is_measured"]
    assert overhead["trap_ns"].keys() >= {"emulated", "return"}


def test_the_released_program_runs_on(braked):
    workload, _, _ = braked
    before = _cpu_ticks(workload.pid)

    deadline = time.monotonic() + 5
    while _cpu_ticks(workload.pid) < before + 5:
        assert time.monotonic() < deadline
    workload.begin()
    workload.await_done()


def _cpu_ticks(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11])


@pytest.mark.parametrize("collector", ["brk", "mmap", "page_faults"])
def test_a_released_collector_counts_no_more_and_keeps_what_it_had(launch, recording_of, collector):
    workload = launch("leaky")

    with recording_of(workload, collector) as recording:
        recording.wait(0.01)
        recording.release()
        before = recording.snapshot()
        workload.work()
        after = recording.snapshot()
        ours = recording.kernel_ids()

    assert after.values_by_stack == before.values_by_stack
    assert after.capture["elapsed_s"] == before.capture["elapsed_s"]
    assert "share" in after.capture["overhead"]
    assert not ours.links & set(syscalls.link_ids())
