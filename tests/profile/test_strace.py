"""Logs of strace: which process a line is of, what its memory comes to, and what is refused."""

from __future__ import annotations

import io

import pytest

from tracer import protocol
from tracer.profile.errors import EmptyProfile, LimitExceeded
from tracer.profile.formats import address_space, read_profile
from tracer.profile.formats.address_space import AddressSpace, Copies, Range
from tracer.profile.model import Profile, Stack

MAP = "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)"


def read(text: str) -> Profile:
    return read_profile(io.BytesIO(text.encode()), resolve=protocol.value_type_named)


def outstanding(text: str) -> dict[Stack, int]:
    profile = read(text)
    return {stack: int(values[0]) for stack, values in profile.rows() if values[0]}


def test_a_child_that_is_heard_of_before_its_parents_clone_returns_has_the_parents_memory() -> None:
    log = f"""10 {MAP} = 0x10000
10 clone(child_stack=NULL, flags=CLONE_VM|CLONE_THREAD <unfinished ...>
11 munmap(0x10000, 4096) = 0
10 <... clone resumed>) = 11
"""
    assert outstanding(log) == {("pid 10", "mmap anonymous"): 4096}


def test_lines_before_the_second_task_belong_to_the_first() -> None:
    log = f"""{MAP} = 0x10000
clone(child_stack=NULL, flags=SIGCHLD, child_tidptr=0x1) = 11
strace: Process 11 attached
[pid    10] munmap(0x10000, 8192) = 0
[pid    11] {MAP} = 0x10000
"""
    assert outstanding(log) == {("pid 11", "mmap anonymous"): 8192}


@pytest.mark.parametrize(
    "rest", [" => {parent_tid=[11]}, 88) = 11\n", " <unfinished ...>\n[pid    10] <... clone3 resumed>, 88) = 11\n"]
)
def test_a_line_that_strace_itself_has_torn_is_mended(rest: str) -> None:
    torn = f"{MAP} = 0x10000\n[pid    10] clone3({{flags=CLONE_VM|CLONE_THREAD}}strace: Process 11 attached\n"

    profile = read(f"{torn}{rest}[pid    11] munmap(0x10000, 4096) = 0\n")

    assert profile.skipped_lines == 0
    assert profile.total() == 4096


def test_a_child_of_vfork_gives_its_parents_memory_back_with_its_own_calls() -> None:
    log = f"""10 {MAP} = 0x10000
10 vfork( <unfinished ...>
11 munmap(0x10000, 4096) = 0
11 execve("/bin/true", ["true"], 0x7ff /* 1 var */) = 0
11 {MAP} = 0x10000
10 <... vfork resumed>) = 11
"""
    assert outstanding(log) == {("pid 10", "mmap anonymous"): 4096, ("true", "mmap anonymous"): 8192}


def test_a_fork_leaves_what_it_copied_to_the_parent() -> None:
    log = f"""10 {MAP} = 0x10000
10 fork() = 11
11 {MAP} = 0x20000
11 munmap(0x10000, 8192) = 0
10 munmap(0x10000, 4096) = 0
"""
    assert outstanding(log) == {("pid 10", "mmap anonymous"): 4096, ("pid 11", "mmap anonymous"): 8192}
    assert "What children had from their parent is not counted again. Forks: 1." in str(read(log).capture["notes"])


def test_times_in_front_of_calls_are_no_pids() -> None:
    for time in ("13:16:02", "13:16:02.270396", "1634121765.422781", "     0.000123", "13:16:02 (+     0.000123)"):
        assert outstanding(f"{time} {MAP} = 0x10000\n") == {("mmap anonymous",): 8192}


def test_a_heap_that_is_suddenly_elsewhere_is_another_program_and_no_growth() -> None:
    log = f"""10 brk(NULL) = 0x1000000
10 {MAP} = 0x10000
10 brk(NULL) = 0x9000000
10 brk(0x9001000) = 0x9001000
"""
    assert outstanding(log) == {("pid 10", "brk"): 4096}


def test_the_summary_of_calls_is_refused_by_name() -> None:
    with pytest.raises(EmptyProfile, match="the summary of strace -c"):
        read("% time     seconds  usecs/call     calls    errors syscall\n 33.72    0.000176  176   1   futex\n")


def test_a_log_without_memory_calls_is_refused() -> None:
    with pytest.raises(EmptyProfile, match="the log holds no call of mmap"):
        read('openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 3\n')


def test_a_range_cut_in_its_middle_leaves_both_ends() -> None:
    space = AddressSpace(Copies())
    space.add(Range(0x1000, 0x9000, 1, is_reserved=False))
    space.add(Range(0x3000, 0x5000, 2, is_reserved=True))

    cut = space.cut(0x4000, 0x6000)

    assert [(known.start, known.end, known.owner) for known in cut] == [(0x4000, 0x5000, 2), (0x5000, 0x6000, 1)]
    left = [(known.start, known.end, known.owner) for known in space.take_all()]
    assert left == [(0x1000, 0x3000, 1), (0x3000, 0x4000, 2), (0x6000, 0x9000, 1)]


def test_more_mappings_than_a_process_can_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_space, "MAX_RANGES", 2)

    with pytest.raises(LimitExceeded, match="number of mappings of a process is 3, the limit is 2"):
        read("".join(f"{MAP} = {0x10000 + 0x10000 * number:#x}\n" for number in range(3)))


def test_more_mappings_than_forks_may_copy_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_space, "MAX_COPIED", 2)
    fork = f"10 fork() = 11\n11 {MAP} = 0x20000\n11 +++ exited with 0 +++\n"

    with pytest.raises(LimitExceeded, match="number of mappings copied by forks is 3, the limit is 2"):
        read(f"10 {MAP} = 0x10000\n" + 3 * fork)
