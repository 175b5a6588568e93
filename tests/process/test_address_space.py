"""Names of addresses of this very process, whose addresses ctypes tells."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess

import pytest

from tracer.process.address_space import AddressSpace
from tracer.process.target import Target
from tracer.symbols.cache import SymbolCache

libc = ctypes.CDLL("libc.so.6")


def address(name: str, library: ctypes.CDLL = libc) -> int:
    value = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    assert value is not None
    return value


@pytest.fixture
def space():
    target = Target(os.getpid())
    space = AddressSpace(target, SymbolCache())
    yield space
    space.close()
    target.close()


def test_a_function_of_a_shared_library_is_named(space):
    name = space.name(address("malloc") + 1)

    assert (name.text, name.is_resolved) == ("malloc", True)


def test_an_address_outside_of_all_mappings_is_unknown(space):
    name = space.name(0x10)

    assert (name.text, name.is_resolved) == ("[unknown]", False)


def test_code_without_a_symbol_is_named_by_module_and_offset(space):
    mapping = next(mapping for mapping in space.mappings() if mapping.module.startswith("libc.so"))

    name = space.name(mapping.start)

    assert (name.text, name.is_resolved) == (f"{mapping.module}+{mapping.offset:#x}", False)


def test_a_library_loaded_later_is_known_after_a_refresh(space, tmp_path):
    copy = tmp_path / "loaded_later.so"
    shutil.copy("/lib/x86_64-linux-gnu/libz.so.1", copy)
    later = address("zlibVersion", ctypes.CDLL(str(copy)))

    assert space.name(later).text == "[unknown]"
    assert space.refresh()
    assert space.name(later).text == "zlibVersion"


def test_a_second_look_at_the_same_mappings_changes_nothing(space):
    space.refresh()

    assert not space.refresh()


def test_names_are_still_found_when_the_process_and_its_files_are_gone(tmp_path):
    copy = tmp_path / "cat"
    shutil.copy("/bin/cat", copy)
    process = subprocess.Popen([copy], stdin=subprocess.PIPE)
    target = Target(process.pid)
    space = AddressSpace(target, SymbolCache())
    mapping = next(mapping for mapping in space.mappings() if mapping.path == str(copy))
    copy.unlink()
    process.kill()
    process.wait()

    name = space.name(mapping.start)

    assert name.text.startswith("cat+0x") or name.is_resolved
    assert not space.refresh()
    space.close()
    target.close()
    process.stdin.close()


def test_a_replaced_file_can_not_be_probed_by_its_path(tmp_path):
    copy = tmp_path / "cat"
    shutil.copy("/bin/cat", copy)
    process = subprocess.Popen([copy], stdin=subprocess.PIPE)
    target = Target(process.pid)
    space = AddressSpace(target, SymbolCache())

    def probe_path():
        space.refresh()
        return space.probe_path(next(mapping for mapping in space.mappings() if mapping.path == str(copy)))

    there = probe_path()
    copy.unlink()
    shutil.copy("/bin/cat", copy)
    replaced = probe_path()

    assert there == f"/proc/{process.pid}/root{copy}"
    assert replaced is None
    space.close()
    target.close()
    process.kill()
    process.wait()
    process.stdin.close()
