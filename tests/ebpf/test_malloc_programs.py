"""malloc on programs that make it hard: many stacks, many threads, full maps, other allocators, exits."""

from __future__ import annotations

import os
import shutil

import pytest

from tracer.bpf import syscalls
from tracer.protocol import LOSS_CAUSES

STACKS = 1 << 13


@pytest.mark.parametrize("name", ["leaky", "leaky-static"])
def test_a_leak_has_exactly_the_known_bytes_and_objects(launch, record, name):
    recorded = record(launch(name), "malloc")

    assert recorded.values("leak_cache") == (23 * 4096, 23, 23 * 4096, 23)
    assert recorded.values("serve_requests") == (0, 0, 1009 * 32, 1009)
    assert recorded.capture["lost"] == {}


def test_events_are_the_allocations_and_the_frees(launch, record):
    recorded = record(launch("leaky"), "malloc")

    assert recorded.capture["events"] == 23 + 2 * 1009


def test_nothing_of_an_unrelated_process_on_the_same_library_is_counted(launch, recording_of):
    other, target = launch("leaky"), launch("leaky")

    with recording_of(target, "malloc") as recording:
        other.work()

        assert recording.progress().events == 0
        assert recording.snapshot().stack_count == 0


def test_what_happens_before_the_recording_is_not_counted(launch, recording_of):
    target = launch("leaky")
    target.work()

    with recording_of(target, "malloc") as recording:
        assert recording.snapshot().stack_count == 0


def test_32_threads_that_free_each_others_blocks_leave_only_what_is_kept_six_times_in_a_row(
    launch, recording_of, by_function
):
    workload = launch("exchange")

    with recording_of(workload, "malloc") as recording:
        for times in range(1, 7):
            workload.work()
            recorded = by_function(recording.snapshot())

            assert recorded.values("keep_at_end") == tuple(times * value for value in (127_000, 127, 127_000, 127))
            assert recorded.values("exchange")[:2] == (0, 0)
            assert recorded.capture["lost"] == {}


def test_thousands_of_different_stacks_are_all_kept_apart(launch, record):
    recorded = record(launch("stacks"), "malloc")

    counts = [values for stack, values in recorded.profile.rows() if "end" in stack]
    assert len(counts) == STACKS
    assert all(values[:4] == [32, 2, 32, 2] for values in counts)
    assert recorded.capture["lost"] == {}


def test_a_full_stack_map_is_counted_and_totals_stay_true(launch, record):
    recorded = record(launch("stacks"), "malloc", max_stacks=512)

    kept = sum(values[3] for stack, values in recorded.profile.rows() if "end" in stack)
    nameless = recorded.values("[stack not recorded]")
    assert recorded.capture["lost"] == {"stack_map_full": nameless[3]}
    assert kept + nameless[3] == 2 * STACKS
    assert recorded.profile.total() == 32 * STACKS


def test_a_full_block_map_is_counted_and_what_was_allocated_stays_true(launch, record):
    recorded = record(launch("stacks"), "malloc", max_blocks=1024)

    lost = recorded.capture["lost"]["allocation_map_full"]
    outstanding_bytes, outstanding, allocated_bytes, allocated = recorded.values("end")
    assert (allocated_bytes, allocated) == (32 * STACKS, 2 * STACKS)
    assert outstanding == allocated - lost
    assert outstanding_bytes == 16 * outstanding
    assert set(recorded.capture["lost"]) <= set(LOSS_CAUSES)


def test_a_stack_deeper_than_the_kernel_walks_is_marked_at_its_root(launch, record):
    recorded = record(launch("allocations"), "malloc")

    deep = [stack for stack, _ in recorded.profile.rows() if "descend" in stack]
    assert [stack[0] for stack in deep] == ["[truncated]"]
    assert recorded.capture["truncated_stacks"] == 1


def test_a_preloaded_allocator_is_followed_instead_of_the_c_librarys(launch, record, programs):
    recorded = record(launch("leaky", LD_PRELOAD=str(programs / "libpool.so")), "malloc")

    assert recorded.capture["allocator"] == "libpool.so"
    assert recorded.values("leak_cache") == (23 * 4096, 23, 23 * 4096, 23)
    assert recorded.values("serve_requests") == (0, 0, 1009 * 32, 1009)


def test_an_operator_new_that_calls_no_malloc_is_followed_to_all_its_ends(launch, record, programs):
    recorded = record(launch("constructions", LD_PRELOAD=str(programs / "libown_new.so")), "malloc")

    assert recorded.capture["allocator"] == "libown_new.so"
    assert recorded.values("keep_small") == (17 * 8, 17, 17 * 8, 17)
    assert recorded.values("keep_large") == (11 * 200, 11, 11 * 200, 11)
    assert recorded.values("delete_all") == (0, 0, 23 * 200, 23)
    assert recorded.tails("keep_small") == {("operator new",)}
    assert recorded.tails("keep_large") == {("operator new[]",)}
    assert recorded.tails("keep_after_bad_alloc") >= {("operator new[]",)}
    assert recorded.capture["lost"] == {}


@pytest.mark.parametrize("name", ["library_user", "library_user-fixed"])
def test_functions_of_a_shared_library_and_of_its_user_are_named(launch, record, name):
    recorded = record(launch(name), "malloc")

    assert recorded.tails("use_library") == {("keep_in_library", "malloc")}
    assert recorded.values("keep_in_library") == (31 * 512, 31, 31 * 512, 31)


def test_functions_of_a_library_that_is_loaded_later_are_named(launch, recording_of):
    workload = launch("loader")

    with recording_of(workload, "malloc") as recording:
        workload.work()
        recording.snapshot()  # looks at what is mapped by now
        workload.exit()
        profile = recording.snapshot()

    kept = [values[:4] for stack, values in profile.rows() if stack[-2:] == ("keep_in_library", "malloc")]
    assert kept == [[31 * 512, 31, 31 * 512, 31]]


def test_a_program_that_becomes_another_one_is_recorded_until_then(launch, recording_of):
    workload = launch("replaced")

    with recording_of(workload, "malloc") as recording:
        workload.work()
        assert recording.wait(0.1)
        profile = recording.snapshot()

    kept = [values[:4] for stack, values in profile.rows() if "keep_before_exec" in stack]
    assert kept == [[41 * 64, 41, 41 * 64, 41]]


def test_cpp_names_are_demangled_whole(launch, record):
    recorded = record(launch("names"), "malloc")

    assert {caller: recorded.values(caller)[1] for caller in recorded.callers("malloc")} == {
        "store::Index<long>::insert(long, std::__cxx11::basic_string<char, std::char_traits<char>, "
        "std::allocator<char> > const&)": 7,
        "store::Index<long>::operator()(int)": 5,
        "store::(anonymous namespace)::hidden(unsigned long)": 3,
    }


def test_names_are_found_after_the_program_has_exited_and_its_file_is_gone(launch, recording_of, programs, tmp_path):
    copy = tmp_path / "leaky"
    shutil.copy(programs / "leaky", copy)
    workload = launch(copy)

    with recording_of(workload, "malloc") as recording:
        workload.work()
        workload.exit()
        copy.unlink()
        went_on = recording.wait(5)
        profile = recording.snapshot()

    assert not went_on
    leaks = [values[:4] for stack, values in profile.rows() if "leak_cache" in stack]
    assert leaks == [[23 * 4096, 23, 23 * 4096, 23]]


def test_a_program_in_another_root_is_probed_and_named(launch, record, programs, tmp_path):
    shutil.copy(programs / "leaky-static", tmp_path)

    recorded = record(launch("/leaky-static", "chroot", tmp_path), "malloc")

    assert recorded.values("leak_cache") == (23 * 4096, 23, 23 * 4096, 23)


def test_a_program_in_another_mount_namespace_is_probed_and_named(launch, record, programs, tmp_path):
    """As in a container: its root is a mount that only it has."""
    shutil.copy(programs / "leaky-static", tmp_path)
    (tmp_path / "old").mkdir()
    enter = f"mount --rbind {tmp_path} {tmp_path} && cd {tmp_path} && pivot_root . old && exec $0"

    recorded = record(launch("/leaky-static", "unshare", "-m", "sh", "-c", enter), "malloc")

    assert recorded.values("leak_cache") == (23 * 4096, 23, 23 * 4096, 23)


def test_an_instruction_that_another_tool_holds_differently_is_left_to_it(launch, record, tmp_path):
    """The kernel refuses a second probe with another reference counter, EINVAL: the next fit instruction is taken."""
    library = tmp_path / "libc.so.6"
    shutil.copy("/lib/x86_64-linux-gnu/libc.so.6", library)
    workload = launch("leaky", LD_LIBRARY_PATH=str(tmp_path))
    free = next(probe for probe in record(workload, "malloc").capture["probes"] if probe["symbol"] == "free")
    held = syscalls.open_uprobe(
        str(library), _start_of_free(library) + free["offset"], pid=os.getpid(), is_return=False, reference_counter=8
    )

    try:
        recorded = record(launch("leaky", LD_LIBRARY_PATH=str(tmp_path)), "malloc")
    finally:
        os.close(held)

    moved = next(probe for probe in recorded.capture["probes"] if probe["symbol"] == "free")
    assert moved["offset"] != free["offset"]
    assert recorded.values("serve_requests") == (0, 0, 1009 * 32, 1009)


def _start_of_free(library):
    from tracer.symbols.elf import ElfFile

    fd = os.open(library, os.O_RDONLY)
    try:
        with ElfFile(fd) as elf:
            return elf.file_offset(elf.exported_functions()["free"].address)
    finally:
        os.close(fd)
