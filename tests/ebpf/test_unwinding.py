"""Stacks of allocator calls in code without frame pointers: each complete from the root, the first ones too."""

from __future__ import annotations

import pytest

ROOT = ("_start", "__libc_start_main")


def below_root(recorded):
    """Stacks of the main thread from `main` on."""
    stacks = {stack for stack, _ in recorded.profile.rows() if "main" in stack}
    assert {stack[:2] for stack in stacks} == {ROOT}
    assert {stack.index("main") for stack in stacks} == {3}
    return {stack[3:] for stack in stacks}


@pytest.fixture(scope="module")
def frameless(launch, record):
    return record(launch("allocations-frameless"), "malloc")


def test_every_stack_of_the_main_thread_is_complete(frameless):
    by_library = {"__cxa_allocate_exception", "pthread_create"}

    assert {stack for stack in below_root(frameless) if not by_library & {*stack}} == {
        ("main", "run", "delete_all", "operator new"),
        ("main", "run", "delete_all", "operator new[]"),
        ("main", "run", "fail_realloc", "malloc"),
        ("main", "run", "fork_child", "malloc"),
        ("main", "run", "free_all", "malloc"),
        ("main", "run", "free_by_realloc", "malloc"),
        ("main", "run", "free_in_other_thread", "malloc"),
        ("main", "run", "free_large", "malloc"),
        ("main", "run", "keep_after_bad_alloc", "operator new[]"),
        ("main", "run", "keep_aligned_alloc", "aligned_alloc"),
        ("main", "run", "keep_calloc", "calloc"),
        ("main", "run", "keep_empty", "malloc"),
        ("main", "run", "keep_large", "malloc"),
        ("main", "run", "keep_malloc", "malloc"),
        ("main", "run", "keep_memalign", "aligned_alloc"),
        ("main", "run", "keep_new", "operator new"),
        ("main", "run", "keep_new_aligned", "operator new"),
        ("main", "run", "keep_new_array", "operator new[]"),
        ("main", "run", "keep_new_nothrow", "operator new[]"),
        ("main", "run", "keep_posix_memalign", "posix_memalign"),
        ("main", "run", "keep_pvalloc", "pvalloc"),
        ("main", "run", "keep_realloc", "malloc"),
        ("main", "run", "keep_realloc", "realloc"),
        ("main", "run", "keep_realloc_of_null", "realloc"),
        ("main", "run", "keep_reallocarray", "reallocarray"),
        ("main", "run", "keep_valloc", "valloc"),
        ("main", "run", "overflow_reallocarray", "malloc"),
    }


@pytest.mark.parametrize(
    "function, caller", [("__cxa_allocate_exception", "keep_after_bad_alloc"), ("pthread_create", "run_threads")]
)
def test_callers_of_libraries_that_allocate_are_complete(frameless, function, caller):
    stacks = {stack for stack in below_root(frameless) if function in stack}

    assert {stack[:3] for stack in stacks} == {("main", "run", caller)}


def test_stacks_of_threads_begin_with_their_start_function(frameless):
    stacks = {stack for stack, _ in frameless.profile.rows() if "keep_in_thread" in stack}

    assert {stack[-3:] for stack in stacks} == {("thread(void*)", "keep_in_thread", "malloc")}
    assert len({len(stack) for stack in stacks}) == 1


def test_a_stack_deeper_than_127_frames_is_cut_at_its_root(frameless):
    [stack] = [stack for stack, _ in frameless.profile.rows() if "descend" in stack]

    assert stack == ("[truncated]", *["descend"] * 127, "malloc")


@pytest.fixture(scope="module", params=["through", "through-frameless"])
def through(request, launch, record):
    return record(launch(request.param), "malloc", unwind="dwarf")


@pytest.mark.parametrize(
    "function, objects",
    [
        ("open_files", 7),
        ("open_directories", 5),
        ("print_to_files", 6),
        ("compile_expression", 0),
        ("resolve_number", 0),
    ],
)
def test_callers_through_library_functions_without_a_frame_are_complete(through, function, objects):
    stacks = {stack for stack in below_root(through) if function in stack}

    assert {stack[:3] for stack in stacks} == {("main", "run", function)}
    assert through.values(function)[1] == objects
    assert through.values(function)[3] >= max(objects, 1)


def test_a_function_that_the_library_calls_back_stands_below_those_who_called_the_library(through):
    stacks = {stack for stack in below_root(through) if "compare_and_keep" in stack}

    assert {(*stack[:4], *stack[-2:]) for stack in stacks} == {
        ("main", "run", "sort", "qsort_r", "compare_and_keep", "malloc")
    }
    assert through.values("compare_and_keep") == (72, 3, 72, 3)


def test_threads_without_frame_pointers_have_whole_stacks_and_exact_numbers(launch, record):
    recorded = record(launch("exchange-frameless"), "malloc")

    assert recorded.values("keep_at_end") == (127_000, 127, 127_000, 127)
    assert recorded.values("exchange")[:2] == (0, 0)
    assert recorded.tails("thread") == {("exchange", "malloc"), ("exchange", "realloc")}
    assert recorded.capture["lost"] == {}
    assert recorded.capture["notes"] == []


def test_code_that_nothing_tells_how_to_unwind_is_marked(launch, record):
    recorded = record(launch("made-frameless"), "malloc")

    made = {stack: values[:4] for stack, values in recorded.profile.rows() if stack[0] == "[broken unwind]"}
    assert made == {("[broken unwind]", "[anon]+0x6", "malloc"): [3700, 37, 3700, 37]}
    assert recorded.capture["broken_unwinds"] == 1
    assert recorded.tails("main") == {("run", "keep_beside", "malloc")}


def test_stacks_over_the_budget_keep_their_caller_and_are_told(launch, record):
    recorded = record(launch("stacks-frameless"), "malloc", unwinds_a_second=10)

    whole = {stack: values for stack, values in recorded.profile.rows() if "main" in stack}
    callerless = recorded.values("[caller not unwound]")
    assert all(stack[:2] == ROOT and len(stack) == 3 + 2 + 13 + 1 + 2 for stack in whole)
    assert recorded.values("end") == (32 << 13, 2 << 13, 32 << 13, 2 << 13)
    assert {stack for stack, _ in recorded.profile.rows()} - {*whole} == {("[caller not unwound]", "end", "malloc")}
    assert recorded.capture["lost"] == {}
    assert recorded.capture["notes"] == [
        f"{callerless[3]:,} allocations stand under [caller not unwound]: new stacks came faster than the "
        "10 a second that are unwound."
    ]


def test_the_caller_of_a_library_without_frame_pointers_is_there(launch, record, programs):
    recorded = record(launch("library_user", LD_LIBRARY_PATH=str(programs / "frameless")), "malloc")

    assert recorded.capture["unwind"] == "dwarf"
    assert recorded.capture["unwind_reason"] == "libkeeper.so keeps no frame pointers."
    assert recorded.tails("main") == {("use_library", "keep_in_library", "malloc")}


def test_a_stack_larger_than_its_copy_is_whole_once_its_walk_was_judged(launch, recording_of):
    workload = launch("wide-frameless")

    with recording_of(workload, "malloc") as recording:
        for _ in range(3):  # the first teaches the way, the second is judged, the third is whole
            workload.work()
            recording.wait(0.2)
        profile = recording.snapshot()

    served = ("serve", *["work_below"] * 8, "malloc")
    objects = {stack: values[1] for stack, values in profile.rows()}
    whole = [stack for stack in objects if "main" in stack]
    assert [(*stack[:2], *stack[3:]) for stack in whole] == [(*ROOT, "main", *["serve_below"] * 25, *served)]
    assert objects[whole[0]] >= 1
    assert all(stack[0] == "[truncated]" for stack in objects if stack not in whole)
    assert sum(objects.values()) == 3


def test_every_stack_of_a_sample_is_complete(launch, record):
    recorded = record(launch("many-frameless"), "malloc", mode="sampled", sample_bytes=16_384)

    functions = {
        "keep_small": "malloc",
        "keep_medium": "malloc",
        "keep_large": "malloc",
        "free_half": "malloc",
        "keep_arrays": "reallocarray",
    }
    expected = {("main", "run", function, leaf) for function, leaf in functions.items()}
    grown = {("main", "run", "grow", leaf) for leaf in ("malloc", "realloc")}
    assert below_root(recorded) == expected | grown
    assert {stack[0] for stack, _ in recorded.profile.rows()} == {ROOT[0]}
    assert recorded.values("keep_large") == (20 << 20, 20, 20 << 20, 20)
    assert recorded.capture["notes"] == []
