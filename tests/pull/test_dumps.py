"""Files of heap profiles: found by a pattern, in their order, and opened only where that is safe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tracer.process.root import Root
from tracer.pull.allowed import Allowed
from tracer.pull.dumps import Place
from tracer.pull.errors import PullError
from tracer.pull.own_files import malloc_conf, own_pattern


@pytest.fixture
def place(tmp_path):
    """Of a pattern below the test's folder; what the pattern names is allowed."""
    opened: list[Root] = []

    def placed(pattern: str, *, rule: str = "*") -> Place:
        opened.append(Root(Path("/")))
        return Place(opened[-1], f"{tmp_path}/{pattern}", Allowed.of([], [f"{tmp_path}/{rule}"]).has_file)

    yield placed
    for root in opened:
        root.close()


def written(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("heap_v2/1\n")


def test_files_come_by_their_number_not_by_their_name(tmp_path, place):
    written(tmp_path, "jeprof.71.10.i10.heap", "jeprof.71.9.i9.heap", "jeprof.71.11.f.heap", "jeprof.71.2.m0.heap", "x")

    dumps = place("jeprof.*.heap").dumps()

    assert [dump.number for dump in dumps] == [2, 9, 10, 11]


def test_files_of_gperftools_come_by_their_number(tmp_path, place):
    written(tmp_path, "service.0010.heap", "service.0002.heap")

    assert [dump.number for dump in place("service.*heap").dumps()] == [2, 10]


def test_files_of_other_processes_are_left_out(tmp_path, place):
    written(tmp_path, "jeprof.71.0.i0.heap", "jeprof.72.0.i0.heap")

    assert [dump.pid for dump in place("jeprof.*").dumps(of_pid=72)] == [72]


def test_a_process_that_gperftools_numbered_has_files_of_its_own(tmp_path, place):
    written(tmp_path, "heap.0001.heap", "heap_72.0001.heap", "heap_73.0001.heap")

    assert [Path(dump.path).name for dump in place("heap[._]*.heap").dumps(of_pid=72)] == ["heap_72.0001.heap"]
    assert [Path(dump.path).name for dump in place("heap[._]*.heap").dumps(of_pid=71)] == ["heap.0001.heap"]


def test_files_of_several_processes_are_not_mixed(tmp_path, place):
    written(tmp_path, "jeprof.71.0.i0.heap", "jeprof.72.0.i0.heap")

    with pytest.raises(PullError, match=r"files of 2 processes \(71, 72\): name one of them"):
        place("jeprof.*").dumps()


def test_links_lead_nowhere(tmp_path, place):
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "jeprof.1.0.f.heap").symlink_to(tmp_path / "secret")
    (tmp_path / "there").symlink_to("/etc")

    linked = place("jeprof.*")

    with pytest.raises(PullError, match="links are not followed"):
        linked.open(linked.dumps()[0])
    assert place("there/*").dumps() == []


def test_what_has_a_second_name_elsewhere_is_not_read(tmp_path, place):
    (tmp_path / "secret").write_text("secret")
    os.link(tmp_path / "secret", tmp_path / "jeprof.1.0.f.heap")
    linked = place("jeprof.*")

    with pytest.raises(PullError, match="it has 2 names, the limit is 1"):
        linked.open(linked.dumps()[0])


def test_pipes_and_directories_are_not_read(tmp_path, place):
    os.mkfifo(tmp_path / "jeprof.1.0.f.heap")
    (tmp_path / "jeprof.1.1.f.heap").mkdir()
    found = place("jeprof.*")

    for dump in found.dumps():
        with pytest.raises(PullError, match="no regular file"):
            found.open(dump)


def test_a_pattern_that_is_wider_than_what_is_allowed_reads_the_allowed_part(tmp_path, place):
    written(tmp_path, "jeprof.1.0.f.heap", "other.heap")
    wide = place("*", rule="jeprof.*")

    assert [Path(dump.path).name for dump in wide.dumps()] == ["jeprof.1.0.f.heap"]


def test_a_file_that_is_too_large_is_refused_with_limit_and_value(tmp_path, place):
    with (tmp_path / "jeprof.1.0.f.heap").open("wb") as file:
        file.truncate((64 << 20) + 1)
    large = place("jeprof.*")

    with pytest.raises(PullError, match="it has 67,108,865 bytes, the limit is 67,108,864"):
        large.open(large.dumps()[0])


def test_files_that_a_process_names_must_be_its_users(tmp_path):
    written(tmp_path, "jeprof.1.0.f.heap")
    root = Root(tmp_path)
    ours = Place(root, "jeprof.*", bool, owner=os.getuid())
    others = Place(root, "jeprof.*", bool, owner=os.getuid() + 1)

    os.close(ours.open(ours.dumps()[0]))
    with pytest.raises(PullError, match="is of user"):
        others.open(others.dumps()[0])
    root.close()


@pytest.mark.parametrize(
    ("collector", "environment", "pattern"),
    [
        ("jemalloc", {"MALLOC_CONF": "prof:true"}, "jeprof.*.heap"),
        ("jemalloc", {"MALLOC_CONF": "prof:false,prof:true,prof_prefix:/var/log/a[1]"}, "/var/log/a[[]1].*.heap"),
        ("jemalloc", {"_RJEM_MALLOC_CONF": "prof:true,prof_prefix:out/heap"}, "out/heap.*.heap"),
        ("tcmalloc", {"HEAPPROFILE": "/tmp/service"}, "/tmp/service[._]*.heap"),
        ("tcmalloc", {"HEAPPROFILE": "\udcaftmp/service"}, "/tmp/service[._]*.heap"),  # as gperftools leaves it
    ],
)
def test_a_process_names_its_files_in_its_environment(collector, environment, pattern):
    assert own_pattern(collector, environment) == pattern


@pytest.mark.parametrize(
    ("collector", "environment", "reason"),
    [
        ("jemalloc", {}, "without prof:true in MALLOC_CONF.*start it with MALLOC_CONF=prof:true,prof_active:true"),
        ("jemalloc", {"MALLOC_CONF": "prof:false"}, "without prof:true"),
        ("jemalloc", {"MALLOC_CONF": "prof:true,prof_prefix:"}, "empty prof_prefix"),
        ("tcmalloc", {}, "without HEAPPROFILE"),
    ],
)
def test_a_process_that_writes_no_files_is_told_how_to(collector, environment, reason):
    with pytest.raises(PullError, match=reason):
        own_pattern(collector, environment)


def test_of_an_option_that_is_given_twice_the_last_one_counts():
    assert malloc_conf({"MALLOC_CONF": "prof:true, lg_prof_sample:19,prof:false"}) == {
        "prof": "false",
        "lg_prof_sample": "19",
    }
