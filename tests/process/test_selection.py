"""Selectors on processes that the test starts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracer.process.namespaces import inner_pids
from tracer.process.selection import descendants, select
from tracer.process.target import TargetError, read_status
from tracer.selector import Selector


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[list[int]]:
    """Two processes of a program with a name that no other has."""
    program = tmp_path / f"worker-{os.getpid()}"
    shutil.copy("/bin/sleep", program)
    started = [subprocess.Popen([program, "60"]) for _ in range(2)]
    yield [process.pid for process in started]
    for process in started:
        process.kill()
        process.wait()


def test_a_name_finds_every_process_of_that_program(workers: list[int]) -> None:
    found = select(Selector.of("name", f"worker-{os.getpid()}"))

    assert [known.pid for known in found] == sorted(workers)
    assert found[0].start_time == read_status(found[0].pid).start_time


def test_a_part_of_a_name_finds_nothing(workers: list[int]) -> None:
    with pytest.raises(TargetError, match="there is no process named worker- on this host"):
        select(Selector.of("name", "worker-"))


def test_several_pids_are_found_and_a_reused_one_is_refused(workers: list[int]) -> None:
    start_time = read_status(workers[0]).start_time

    found = select(Selector.of_pids([(workers[1], 0), (workers[0], start_time)]))

    assert [known.pid for known in found] == sorted(workers)
    with pytest.raises(TargetError, match="the pid was used again"):
        select(Selector.of_pids([(workers[1], 0), (workers[0], start_time + 1)]))


def test_its_own_processes_are_left_out_and_refused_by_pid(workers: list[int]) -> None:
    with pytest.raises(TargetError, match="memflame's own, which does not record itself"):
        select(Selector.of_pids([(workers[0], 0)]), own_root=os.getpid())
    with pytest.raises(TargetError, match="there is no process named"):
        select(Selector.of("name", f"worker-{os.getpid()}"), own_root=os.getpid())


def test_more_processes_than_the_limit_are_refused(workers: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracer.process.selection.MAX_SELECTED", 1)

    with pytest.raises(TargetError, match="2 processes are named .*, the limit of a run is 1"):
        select(Selector.of("name", f"worker-{os.getpid()}"))


def test_an_unknown_group_is_refused() -> None:
    with pytest.raises(TargetError, match="there is no control group /memflame/none"):
        select(Selector.of("cgroup", "/memflame/none"))


def test_descendants_are_children_and_their_children() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        grandchild = int(shell.stdout.readline())

        found = descendants([shell.pid])

        os.kill(grandchild, 9)
    assert found == {shell.pid, grandchild}


def test_the_numbers_of_a_process_are_read_from_the_outermost_namespace_in() -> None:
    assert inner_pids("Name:\tworker\nNSpid:\t4711\t12\nNSpgid:\t4711\t1\n") == (4711, 12)
    assert inner_pids("Name:\tworker\n") == ()


def test_a_pid_of_a_namespace_is_told_by_its_number_here() -> None:
    unused = next(pid for pid in range(20_000, 32_000) if not Path(f"/proc/{pid}").exists())
    inside = f"echo {unused - 1} >/proc/sys/kernel/ns_last_pid; sleep 60 & echo $!; wait"
    command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", inside]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        try:
            inner = int(started.stdout.readline() or 0)
            with pytest.raises(TargetError) as refused:
                select(Selector.of_pids([(inner, 0)]))
        finally:
            started.kill()

    told = re.search(rf"no process {inner}; {inner} in a pid namespace of its own is (\d+) here", str(refused.value))
    assert told is not None
