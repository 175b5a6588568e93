"""One part of perf's recording, as the process without rights reads it."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Mapping
from typing import Any

import pytest

from tracer.perf.losses import lost_samples
from tracer.perf.parsing import main
from tracer.profile.folded import read_folded
from tracer.profile.model import Profile
from tracer.protocol import value_type_named

PAGE = 4096
PID = 4711
LOST, LOST_SAMPLES, SAMPLE, FILTERED = 2, 13, 9, 1 << 15


def data_file(*records: tuple[int, int, bytes]) -> int:
    """A perf.data file of these records: type, flags, body."""
    data = b"".join(struct.pack("<IHH", kind, flags, 8 + len(body)) + body for kind, flags, body in records)
    fd = os.memfd_create("perf.data")
    os.write(fd, struct.pack("<8s12Q", b"PERFILE2", 104, 144, 104, 0, 104, len(data), 0, 0, 0, 0, 0, 0) + data)
    return fd


def parsed(collector: str, text: str, *, state: Mapping[str, Any] | None = None, **argument: Any) -> Profile:
    fd = data_file()
    out = io.BytesIO()
    told = {
        "leaves": {},
        "spans": {},
        "wrappers": [],
        "max_frames": 127,
        "state": state or {},
        "data_fd": fd,
        **argument,
    }
    main({"collector": collector, "pid": PID, **told}, io.BytesIO(text.encode()), out)
    os.close(fd)
    return read_folded(out.getvalue().splitlines(keepends=True), resolve=value_type_named)


def sample(event: str, payload: str = "", *, pid: int = PID, tid: int = PID, frames: int = 1) -> str:
    stack = "".join(f"\t{number + 16:x} f{number} (/srv/app)\n" for number in range(frames))
    return f"svc {pid}/{tid} 1.5: {event}: {payload}\n{stack}\n"


def test_requests_are_size_times_members_under_the_function_and_its_caller() -> None:
    text = sample("g:calloc_0", "(55) size=0x14 count=0x3 caller=0x7f01", frames=2)

    profile = parsed("malloc", text, leaves={"g:calloc_0": "calloc"})

    assert profile.values_by_stack == {("f1", "@0x7f01", "calloc"): [60, 1]}


def test_a_block_belongs_to_the_outermost_function_that_was_called() -> None:
    new, array, malloc = "g:_Znwm_1", "g:_Znam_2", "g:malloc_0"
    text = (
        sample(array, "(55) size=0x10 caller=0x500")
        + sample(new, "(55) size=0x10 caller=0x2010")  # called by operator new[]
        + sample(malloc, "(55) size=0x10 caller=0x1010")  # called by operator new
        + sample(malloc, "(55) size=0x20 caller=0x501")
        + sample(new, "(55) size=0x40 caller=0x502")
        + sample(malloc, "(55) size=0x40 caller=0x502")  # operator new jumped there
        + sample(new, "(55) size=0x80 caller=0x503", tid=7)
        + sample(malloc, "(55) size=0x1 caller=0x1010", tid=8)  # another thread
    )

    profile = parsed(
        "malloc",
        text,
        leaves={new: "operator new", array: "operator new[]", malloc: "malloc"},
        spans={malloc: [0x3000, 0x3100], new: [0x1000, 0x1100], array: [0x2000, 0x2100]},
        wrappers=[new, array],
    )

    assert profile.values_by_stack == {
        ("@0x500", "operator new[]"): [0x10, 1],
        ("@0x501", "malloc"): [0x20, 1],
        ("@0x502", "operator new"): [0x40, 1],
        ("@0x1010", "malloc"): [0x1, 1],
    }
    assert profile.capture["samples"] == 8


def test_an_allocator_that_calls_another_counts_once() -> None:
    array, again, malloc = "g:reallocarray_0", "g:realloc_1", "g:malloc_2"
    one = (
        sample(array, "(55) count=0x2 size=0x8 return_address=0x500")
        + sample(again, "(55) size=0x10 return_address=0x500")  # jumped there
        + sample(malloc, "(55) size=0x10 return_address=0x7fffffffe000")  # jumped there from below a return probe
    )

    profile = parsed(
        "malloc",
        one + one + sample(malloc, "(55) size=0x20 return_address=0x600") * 3,
        leaves={array: "reallocarray", again: "realloc", malloc: "malloc"},
        spans={array: [0x1000, 0x1100], again: [0x2000, 0x2100], malloc: [0x3000, 0x3100]},
    )

    assert {stack[-1]: values for stack, values in profile.rows()} == {"reallocarray": [0x20, 2], "malloc": [0x60, 3]}


def test_a_caller_that_the_kernel_may_have_added_is_marked() -> None:
    text = sample("g:malloc_0", "(55) size=0x10 perhaps_known_caller=0x500", frames=2)

    assert set(parsed("malloc", text, leaves={"g:malloc_0": "malloc"}).values_by_stack) == {("f1", "@?0x500", "malloc")}


def test_a_size_that_no_process_has_is_a_call_without_bytes() -> None:
    profile = parsed("malloc", sample("g:malloc_0", "(55) size=0x4000000000000000"), leaves={"g:malloc_0": "malloc"})

    assert profile.values_by_stack == {("malloc",): [0, 1]}


def test_children_of_the_target_do_not_count() -> None:
    profile = parsed(
        "page_faults", sample("minor-faults") + sample("minor-faults", pid=PID + 1) + sample("major-faults")
    )

    assert profile.values_by_stack == {("f0",): [1, 1]}
    assert profile.capture["samples"] == 2


def test_a_call_that_begins_in_one_part_ends_in_the_next() -> None:
    enter = sample("syscalls:sys_enter_mmap", "addr: 0x00000000, len: 0x00001001, prot: 0x3", tid=7)
    first = parsed("mmap", enter)
    rest = sample("syscalls:sys_exit_mmap", "0x7f0000000000", tid=8) + sample(
        "syscalls:sys_exit_mmap", "0x7f0000000000", tid=7
    )

    second = parsed("mmap", rest, state=first.capture["state"])

    assert first.stack_count == 0
    assert second.values_by_stack == {("f0",): [2 * PAGE, 1]}


def test_a_mapping_that_failed_counts_nothing() -> None:
    calls = sample("syscalls:sys_enter_mmap", "len: 0x1000") + sample("syscalls:sys_exit_mmap", "0xfffffffffffffff4")

    assert parsed("mmap", calls).stack_count == 0


@pytest.mark.parametrize(("end", "moved"), [(0x5000, [0x3000, 1, 0]), (0, [0, 1, 0])])
def test_the_first_brk_moves_the_heap_from_where_it_ended(end: int, moved: list[int]) -> None:
    calls = sample("syscalls:sys_enter_brk", "brk: 0x8000") + sample("syscalls:sys_exit_brk", "0x8000")

    assert parsed("brk", calls, state={"end": end}).values_by_stack == {("f0",): moved}


def test_stacks_that_were_cut_or_not_taken_are_marked() -> None:
    text = sample("minor-faults", frames=3) + sample("minor-faults", frames=0)

    profile = parsed("page_faults", text, max_frames=3)

    assert set(profile.values_by_stack) == {("[truncated]", "f2", "f1", "f0"), ("[stack not recorded]",)}
    assert profile.capture["truncated_stacks"] == 1


@pytest.mark.parametrize(
    ("records", "lost"),
    [
        ([(SAMPLE, 0, bytes(64))], (0, 0)),
        ([(LOST, 0, struct.pack("<QQ", 5, 7)), (SAMPLE, 0, b""), (LOST, 0, struct.pack("<QQ", 5, 4))], (11, 0)),
        ([(LOST, 0, struct.pack("<QQ", 5, 1)), (LOST_SAMPLES, 0, struct.pack("<Q", 1032))], (1, 1032)),
        ([(LOST_SAMPLES, FILTERED, struct.pack("<Q", 99))], (0, 0)),
    ],
)
def test_losses_are_read_from_the_records(records: list[tuple[int, int, bytes]], lost: tuple[int, int]) -> None:
    fd = data_file(*records)

    assert lost_samples(fd) == lost
    os.close(fd)


@pytest.mark.parametrize("content", [b"", b"PERFILE2", b"\x7fELF" + bytes(200), b"PERFILE2" + bytes(200)])
def test_a_damaged_file_tells_of_no_loss(content: bytes) -> None:
    fd = os.memfd_create("perf.data")
    os.write(fd, content)

    assert lost_samples(fd) == (0, 0)
    os.close(fd)
