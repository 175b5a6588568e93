"""Recordings of several processes, and of processes with their children; the four collectors alike."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tracer.collectors import CollectorError, start
from tracer.process.cgroups import directories_of, pids_in
from tracer.process.selection import descendants
from tracer.protocol import RunSpec

PAGE = 4096

# Functions of tests/programs/family.c: outstanding bytes and objects.
OF_THE_PARENT = {"parent_keeps": (23 * 100, 23), "parent_hands_down": (13 * 200, 13)}
OF_ITS_CHILDREN = {
    "child_keeps": (17 * 300, 17),
    "child_moves_inherited": (5000, 1),
    "child_frees_inherited": (0, 0),
    "grandchild_keeps": (11 * 500, 11),
    "spawned_keeps": (19 * 700, 19),
}


def recording_by(target, collector="malloc"):
    return start(RunSpec("r-test", collector, target=target))


@pytest.fixture(scope="module")
def family(launch, recording_of, by_function):
    """A parent and all that it forks and spawns, the parent's pid, and what came of it."""
    workload = launch("family")
    with recording_of(workload, "malloc", follow_children=1, by_process=1) as running:
        workload.work()
        recorded = by_function(running.snapshot())
    workload.exit()
    return workload.pid, recorded


@pytest.mark.parametrize("function", [*OF_THE_PARENT, *OF_ITS_CHILDREN])
def test_followed_children_hold_exactly_what_they_allocated(family, function):
    outstanding = (OF_THE_PARENT | OF_ITS_CHILDREN)[function]

    assert family[1].values(function)[:2] == outstanding


def test_each_followed_process_stands_at_the_root_of_its_stacks(family):
    pid, recorded = family
    roots = {stack[0]: stack for stack, _ in recorded.profile.rows()}

    assert len(roots) == 4
    assert all(root.startswith("family (") for root in roots)
    assert "parent_keeps" in {
        frame for stack, _ in recorded.profile.rows() if stack[0] == f"family ({pid})" for frame in stack
    }


def test_the_capture_names_the_processes_that_were_followed(family):
    pid, recorded = family
    pids = [known["pid"] for known in recorded.capture["pids"]]

    assert pids[0] == pid
    assert len(set(pids)) == 4
    assert {known["command"] for known in recorded.capture["pids"]} == {"family"}
    assert recorded.capture["lost"] == {}
    assert any("Other processes with these files" in note for note in recorded.capture["notes"])


def test_childrens_stacks_are_unwound_by_their_own_tables(launch, record):
    recorded = record(launch("family"), "malloc", follow_children=1, unwind="dwarf")

    known = OF_THE_PARENT | OF_ITS_CHILDREN
    assert {name: recorded.values(name)[:2] for name in known} == known


def test_children_are_left_out_unless_they_are_asked_for(launch, record):
    recorded = record(launch("family"), "malloc")

    assert {name: recorded.values(name)[:2] for name in OF_THE_PARENT} == OF_THE_PARENT
    assert {recorded.values(name) for name in OF_ITS_CHILDREN} == {(0, 0, 0, 0)}


def test_a_childs_mappings_are_followed(launch, record):
    recorded = record(launch("family"), "mmap", follow_children=1)

    assert recorded.values("child_maps") == (3 * PAGE, 3 * PAGE, 1)


def test_a_childs_heap_is_followed(launch, record):
    recorded = record(launch("family"), "brk", follow_children=1)

    assert recorded.values("child_grows")[0] == PAGE


def test_a_childs_page_faults_are_followed(launch, record):
    recorded = record(launch("family"), "page_faults", follow_children=1)

    assert recorded.values("child_maps")[0] >= 3


def test_children_that_were_there_before_are_recorded_too(launch, recording_of, by_function):
    workload = launch("family")
    workload.work()
    (spawned,) = descendants([workload.pid]) - {workload.pid}

    with recording_of(workload, "brk", follow_children=1) as running:
        capture = running.snapshot().capture

    assert [known["pid"] for known in capture["pids"]] == [workload.pid, spawned]
    workload.exit()


def test_each_process_can_stand_at_the_root(launch, recording_of, by_function):
    one, other = launch("leaky"), launch("leaky")

    with recording_of([one, other], "malloc", by_process=1) as running:
        one.work()
        apart = by_function(running.snapshot())
        other.work()
        both = by_function(running.snapshot())

    assert {stack[0] for stack, _ in apart.profile.rows()} == {f"leaky ({one.pid})"}
    assert both.values(f"leaky ({other.pid})")[1] == both.values(f"leaky ({one.pid})")[1] == 23


def test_two_processes_are_one_graph_until_the_last_has_ended(launch, recording_of, by_function):
    one, other = launch("leaky"), launch("leaky")

    with recording_of([one, other], "malloc") as running:
        one.work()
        one.exit()
        is_alive = running.wait(0.05)
        other.work()
        other.exit()
        is_alive_then = running.wait(5)
        recorded = by_function(running.snapshot())

    assert (is_alive, is_alive_then) == (True, False)
    assert recorded.values("leak_cache") == (46 * 4096, 46, 46 * 4096, 46)
    assert len([stack for stack, _ in recorded.profile.rows() if "leak_cache" in stack]) == 1
    assert {known["pid"] for known in recorded.capture["pids"]} == {one.pid, other.pid}
    assert recorded.capture["notes"] == [
        "2 processes exited or began another program: what they held then counts as outstanding."
    ]


@pytest.fixture
def group():
    """A control group with one below it; both are taken away, and their processes given back."""
    root = next(iter(directories_of("/")), None)
    outer = root / f"memflame-test-{os.getpid()}" if root else Path("/nonexistent")
    try:
        (outer / "inner").mkdir(parents=True)
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    yield outer
    for directory in (outer / "inner", outer):
        for pid in pids_in(directory):
            (outer.parent / "cgroup.procs").write_text(str(pid))
        directory.rmdir()


def test_a_control_group_is_recorded_with_all_below_it(launch, group, by_function):
    inside, below, outside = launch("leaky"), launch("leaky"), launch("leaky")
    (group / "cgroup.procs").write_text(str(inside.pid))
    (group / "inner" / "cgroup.procs").write_text(str(below.pid))

    with recording_by(f"cgroup:/{group.name}") as running:
        for workload in (inside, below, outside):
            workload.work()
        recorded = by_function(running.snapshot())

    assert {known["pid"] for known in recorded.capture["pids"]} == {inside.pid, below.pid}
    assert recorded.values("leak_cache")[1] == 46


def test_a_process_in_a_pid_namespace_is_recorded_by_its_number_here(programs, by_function):
    command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", programs / "leaky"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as started:
        try:
            if started.stdout.readline() != "ready 1\n":
                pytest.skip("no pid namespace can be made here")
            (pid,) = descendants([started.pid]) - {started.pid}
            with recording_by(f"pids:{pid}") as running:
                started.stdin.write("\n")
                assert started.stdout.readline() == "done 1\n"
                recorded = by_function(running.snapshot())
        finally:
            started.kill()

    assert recorded.values("leak_cache") == (23 * 4096, 23, 23 * 4096, 23)


def test_a_reused_pid_among_several_is_refused(launch):
    one, other = launch("leaky"), launch("leaky")

    with pytest.raises(CollectorError, match="is not the one that was chosen"):
        recording_by(f"pids:{one.pid},{other.pid}@1", "brk").__enter__()
