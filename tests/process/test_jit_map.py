"""Maps of JIT-compiled code that processes write, and files in their place that others wrote."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tracer.process import names as names_module
from tracer.process.address_space import AddressSpace
from tracer.process.target import Target
from tracer.symbols import jit

CODE = 0x10000  # nothing is mapped so low
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def resources() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def cat(resources) -> subprocess.Popen[bytes]:
    return started(resources, "cat")


def started(resources: ExitStack, *command: str | Path) -> subprocess.Popen[bytes]:
    process = resources.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE))
    resources.callback(process.kill)
    return process


def space_of(resources: ExitStack, pid: int) -> AddressSpace:
    target = Target(pid)
    resources.callback(target.close)
    space = AddressSpace(target)
    resources.callback(space.close)
    return space


def map_file(resources: ExitStack, pid: int, text: str = "10000 100 loadIndex /srv/index.js:12\n") -> Path:
    path = Path(f"/tmp/perf-{pid}.map")
    path.write_text(text)
    resources.callback(path.unlink, missing_ok=True)
    return path


def test_code_that_no_file_holds_has_the_name_of_the_map(resources, cat, names_of):
    map_file(resources, cat.pid)

    (name,) = names_of(space_of(resources, cat.pid)).frames(CODE + 16)

    assert (name.text, name.is_resolved) == ("loadIndex /srv/index.js:12", True)


def test_code_that_is_compiled_between_two_snapshots_has_its_name_in_the_second(resources, cat, names_of):
    names = names_of(space_of(resources, cat.pid))
    names.resolve([CODE])
    before = names.frames(CODE)
    map_file(resources, cat.pid)

    names.resolve([CODE])
    first = names.frames(CODE)
    map_file(resources, cat.pid, "10000 100 interpreted\n10000 100 optimized\n")
    names.resolve([CODE])

    assert [name.text for (name,) in (before, first, names.frames(CODE))] == [
        "[unknown]", "loadIndex /srv/index.js:12", "optimized",
    ]  # fmt: skip


def test_the_map_is_read_after_the_process_has_exited(resources, cat, names_of):
    map_file(resources, cat.pid)
    names = names_of(space_of(resources, cat.pid))
    cat.kill()
    cat.wait()

    assert names.frames(CODE)[0].text == "loadIndex /srv/index.js:12"


@needs_root
def test_a_map_of_another_user_is_not_read(resources, cat, names_of):
    os.chown(map_file(resources, cat.pid), 1000, 1000)

    assert names_of(space_of(resources, cat.pid)).frames(CODE)[0].text == "[unknown]"


def test_a_link_in_place_of_the_map_is_not_followed(resources, cat, names_of, tmp_path):
    path = map_file(resources, cat.pid)
    path.rename(tmp_path / "map")
    path.symlink_to(tmp_path / "map")

    assert names_of(space_of(resources, cat.pid)).frames(CODE)[0].text == "[unknown]"


def test_a_pipe_in_place_of_the_map_holds_nobody_up(resources, cat, names_of):
    path = map_file(resources, cat.pid)
    path.unlink()
    os.mkfifo(path)

    assert names_of(space_of(resources, cat.pid)).frames(CODE)[0].text == "[unknown]"


@needs_root
def test_pitfall_33_the_map_is_named_by_the_pid_inside_of_the_pid_namespace(resources, names_of, tmp_path, build):
    """In a container with a root directory of its own, too."""
    root = tmp_path / "root"
    (root / "tmp").mkdir(parents=True)
    build("-static", name="program").rename(root / "program")
    outside = started(resources, "unshare", "--pid", "--fork", "--kill-child", "chroot", root, "/program")
    children = Path(f"/proc/{outside.pid}/task/{outside.pid}/children")
    while not (pids := children.read_text().split()) or not _is_program(pids[0]):
        assert outside.poll() is None
    (root / "tmp/perf-1.map").write_text("10000 100 inside\n")

    assert names_of(space_of(resources, int(pids[0]))).frames(CODE)[0].text == "inside"


def _is_program(pid: str) -> bool:
    return Path(f"/proc/{pid}/comm").read_text() == "program\n"


def test_a_map_that_is_read_in_part_is_told(resources, cat, names_of, monkeypatch):
    for module in (jit, names_module):
        monkeypatch.setattr(module, "MAX_BYTES", 64)
    monkeypatch.setattr("tracer.process.jit_map.MAX_BYTES", 64)
    path = map_file(resources, cat.pid, "10000 100 first\n" * 10)
    names = names_of(space_of(resources, cat.pid))

    names.resolve([CODE])

    assert [note for note in names.notes() if str(path) in note]
