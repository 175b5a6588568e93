"""Processes that can't be traced, each with its reason."""

from __future__ import annotations

import os
import subprocess
import threading

import pytest

from tracer.process.target import Target, TargetError, parse_status, read_status, refuse_untraceable


@pytest.fixture
def sleeper():
    """A process that does nothing until it is ended."""
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()
    process.stdin.close()


@pytest.fixture
def target(sleeper):
    with_pidfd = Target(sleeper.pid)
    yield with_pidfd
    with_pidfd.close()


def test_a_live_process_is_known_by_command_and_start_time(sleeper, target):
    assert target.command == "cat"
    assert target.start_time == read_status(sleeper.pid).start_time
    assert not target.has_exited()


def test_its_exit_is_seen(sleeper, target):
    sleeper.kill()

    assert target.exits_within(10)
    assert target.has_exited()


def test_a_pid_that_nobody_has_is_refused(sleeper):
    sleeper.kill()
    sleeper.wait()

    with pytest.raises(TargetError, match=f"there is no process {sleeper.pid}"):
        Target(sleeper.pid)


def test_a_process_that_exited_and_waits_for_its_parent_is_refused(sleeper, target):
    sleeper.kill()
    target.exits_within(10)

    with pytest.raises(TargetError, match=rf"process {sleeper.pid} \(cat\) has exited"):
        Target(sleeper.pid)


def test_a_reused_pid_is_refused_with_both_start_times(sleeper):
    started = read_status(sleeper.pid).start_time

    with pytest.raises(TargetError, match=f"started at tick {started}, expected {started - 1}"):
        Target(sleeper.pid, start_time=started - 1)


def test_a_thread_is_refused_with_the_process_that_it_belongs_to():
    known, done = threading.Event(), threading.Event()
    ids: list[int] = []

    def tell() -> None:
        ids.append(threading.get_native_id())
        known.set()
        done.wait(30)

    thread = threading.Thread(target=tell)
    thread.start()
    known.wait(30)
    try:
        with pytest.raises(TargetError, match=f"{ids[0]} is a thread of process {os.getpid()}"):
            Target(ids[0])
    finally:
        done.set()
        thread.join()


def test_a_kernel_thread_is_refused():
    status = parse_status("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0")

    with pytest.raises(TargetError, match=r"process 2 \(kthreadd\) is a kernel thread: it has no memory of its own"):
        refuse_untraceable(2, status, 0)


def test_a_command_with_parentheses_and_spaces_is_read_whole():
    text = "7 (a) R (b) S 1 2 3 4 5 4194304 100 0 23 0 0 0 0 0 20 0 1 0 777 0 0"

    status = parse_status(text)

    assert (status.command, status.state, status.start_time) == ("a) R (b", "S", 777)
    assert (status.minor_faults, status.major_faults) == (100, 23)
