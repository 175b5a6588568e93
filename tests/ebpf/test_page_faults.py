"""Page faults: equal to the kernel's own count of the process, and known numbers at known functions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from tracer.process.target import Status, read_status
from tracer.profile.model import Profile


@dataclass(frozen=True)
class Touched:
    """The kernel's count before and after, and the snapshot."""

    before: Status
    after: Status
    profile: Profile

    def values(self, *tail: str) -> list[list[int]]:
        return [values for stack, values in self.profile.rows() if stack[-len(tail) :] == tail]

    def minor(self, *path: str) -> int:
        """Minor faults of the stacks in which these frames follow each other."""
        return sum(values[0] for stack, values in self.profile.rows() if _has(stack, path))


def _has(stack: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return any(stack[at : at + len(path)] == path for at in range(len(stack)))


@pytest.fixture(scope="module")
def touch(launch, recording_of):
    """Record a program's work, taking in events meanwhile as a run does."""

    def touched(name: str, **options: int) -> Touched:
        workload = launch(name)
        with recording_of(workload, "page_faults", **options) as recording, ThreadPoolExecutor() as pool:
            before = read_status(workload.pid)
            working = pool.submit(workload.work)
            while not working.done():
                recording.wait(0.01)
            return Touched(before, read_status(workload.pid), recording.snapshot())

    return touched


@pytest.fixture(scope="module")
def framed(touch):
    return touch("touch")


@pytest.fixture(scope="module", params=["touch", "touch-frameless"])
def touched(request, touch):
    return touch(request.param)


@pytest.mark.parametrize(
    "tail, faults",
    [(("touch_each",), 1009), (("read_each",), 307), (("fill_from_file", "read"), 101)],
)
def test_a_function_has_as_many_faults_as_it_touches_fresh_pages(framed, tail, faults):
    assert framed.values(*tail) == [[faults, 0]]


@pytest.mark.parametrize("function, faults", [("touch_each", 1009), ("read_each", 307)])
def test_a_function_without_a_frame_has_them_too_unwound_or_not(touch, function, faults):
    touched = touch("touch-frameless", unwinds_a_second=10)

    rows = [(stack, values) for stack, values in touched.profile.rows() if stack[-1] == function]
    assert sum(minor for _, (minor, _) in rows) == faults
    assert {stack[-2] for stack, _ in rows} <= {"run", "[caller not unwound]"}


def test_faults_in_a_library_function_without_a_frame_stand_below_its_caller(touched):
    assert touched.minor("run", "clear") == 211


def test_faults_in_malloc_stand_below_those_who_called_it(touched):
    assert touched.minor("main", "run", "grow_heap", "take_left", "take", "malloc") == 113
    assert touched.minor("main", "run", "grow_heap", "take_right", "take", "malloc") == 97


def test_totals_are_those_that_the_kernel_counts_for_the_process(touched):
    assert touched.profile.total(0) == touched.after.minor_faults - touched.before.minor_faults
    assert touched.profile.total(1) == touched.after.major_faults - touched.before.major_faults
    assert touched.profile.capture["lost"] == {}


def test_what_is_over_the_budget_is_told_and_the_totals_stay_exact(touch):
    touched = touch("touch", unwinds_a_second=10)

    callerless = touched.minor("[caller not unwound]")
    assert callerless > 0
    assert touched.profile.total(0) == touched.after.minor_faults - touched.before.minor_faults
    assert touched.profile.capture["notes"] == [
        f"{callerless:,} faults stand under [caller not unwound]: "
        "they came faster than the 10 a second that are unwound."
    ]


def test_a_walk_out_of_malloc_is_known_once_it_was_unwound(launch, recording_of):
    workload = launch("bursts")

    with recording_of(workload, "page_faults", unwinds_a_second=10) as recording:
        workload.work()
        recording.wait(0.1)
        workload.exit()
        profile = recording.snapshot()

    by_burst = [values[0] for stack, values in profile.rows() if _has(stack, ("main", "burst", "take", "malloc"))]
    assert sum(by_burst) == 3001


def test_a_stack_map_that_is_full_loses_nothing(touch):
    touched = touch("touch", max_stacks=16)

    assert touched.profile.total(0) == touched.after.minor_faults - touched.before.minor_faults
    assert touched.profile.capture["lost"] == {}


def test_an_unwinding_that_ends_before_the_root_says_so(touch):
    touched = touch("generated-frameless")

    assert touched.values("[broken unwind]", "[anon]+0x5") == [[31, 0]]
    assert touched.profile.capture["broken_unwinds"] == 1
