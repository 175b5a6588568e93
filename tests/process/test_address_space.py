"""What this process, and a copy of cat, have mapped."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess

import pytest

from tracer.process.address_space import AddressSpace
from tracer.process.target import Target


@pytest.fixture
def space():
    target = Target(os.getpid())
    space = AddressSpace(target)
    yield space
    space.close()
    target.close()


@pytest.fixture
def cat(tmp_path):
    """A copy of cat that runs, its file, and its address space."""
    copy = tmp_path / "cat"
    shutil.copy("/bin/cat", copy)
    with subprocess.Popen([copy], stdin=subprocess.PIPE) as process:
        target = Target(process.pid)
        space = AddressSpace(target)
        yield process, copy, space
        space.close()
        target.close()
        process.kill()


def test_a_library_loaded_later_is_known_after_a_refresh(space, tmp_path):
    copy = tmp_path / "loaded_later.so"
    shutil.copy("/lib/x86_64-linux-gnu/libz.so.1", copy)
    later = ctypes.cast(ctypes.CDLL(str(copy)).zlibVersion, ctypes.c_void_p).value

    assert not space.has_code_at(later)
    assert space.refresh()
    assert space.mapping_at(later).path == str(copy)


def test_a_second_look_at_the_same_mappings_changes_nothing(space):
    space.refresh()

    assert not space.refresh()


def test_a_replaced_file_can_not_be_probed_by_its_path(cat):
    process, copy, space = cat

    def probe_path():
        space.refresh()
        return space.probe_path(next(mapping for mapping in space.mappings() if mapping.path == str(copy)))

    there = probe_path()
    copy.unlink()
    shutil.copy("/bin/cat", copy)
    replaced = probe_path()

    assert there == f"/proc/{process.pid}/root{copy}"
    assert replaced is None


def test_nothing_is_open_after_close(cat):
    _, _, space = cat
    opened = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - iterdir holds one open itself

    space.close()

    assert len(os.listdir("/proc/self/fd")) < opened  # noqa: PTH208
