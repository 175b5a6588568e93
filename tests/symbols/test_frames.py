"""Frames that are places in a file get the names of the functions there, by the file itself."""

from __future__ import annotations

import pytest

from tracer.profile.model import Profile, ValueType
from tracer.symbols.elf import ElfFile
from tracer.symbols.frames import places_in, with_names
from tracer.symbols.store import NameStore
from tracer.symbols.symbolizer import Binary, Symbolizer

BYTES = ValueType("inuse_bytes", "bytes", "level", "Bytes in use when the profile was taken")
SOURCE = """
__attribute__((always_inline)) static inline int inlined(int n) { __asm__ volatile("nop"); return n * 7; }
__attribute__((noinline)) int outer(int n) { return inlined(n) + 2; }
"""


@pytest.fixture
def program(built) -> tuple[Binary, int]:
    """A program, and where its `outer` begins in the file."""
    fd = built("-g", source=SOURCE)
    with ElfFile(fd) as elf:
        return Binary(fd, "/srv/program"), elf.file_offset(elf.exported_functions()["outer"].address)


@pytest.fixture
def symbolizer(tmp_path) -> Symbolizer:
    return Symbolizer(NameStore(tmp_path / "names"))


def profile_of(*stacks: str) -> Profile:
    profile = Profile((BYTES,))
    for stack in stacks:
        profile.add(stack.split(";"), [7])
    profile.skip(3, "?", "odd")
    return profile


def test_a_frame_without_a_name_is_told_by_module_and_offset():
    assert places_in(["main", "search-api+0x1f", "a+0x1+0x20", "x+0xyz"]) == {
        "search-api": {0x1F: "search-api+0x1f"}, "a+0x1": {0x20: "a+0x1+0x20"},
    }  # fmt: skip


def test_places_get_the_names_of_functions_and_of_those_inlined_there(program, symbolizer):
    binary, start = program
    profile = profile_of(f"main;program+{start + 1:#x};malloc")
    named = with_names(profile, {"program": binary}, symbolizer)
    assert named.values_by_stack == {("main", "outer", "inlined", "malloc"): [7]}
    assert named.skipped == profile.skipped and named.skipped_lines == 1


def test_stacks_that_become_equal_add_up(program, symbolizer):
    binary, start = program
    named = with_names(profile_of(f"program+{start:#x}", "outer;inlined"), {"program": binary}, symbolizer)
    assert named.values_by_stack == {("outer", "inlined"): [14]}


def test_what_has_no_name_stays_as_it_is(program, symbolizer):
    binary, _ = program
    profile = profile_of("program+0x0;other+0x10", "operator+")
    assert with_names(profile, {"program": binary}, symbolizer).values_by_stack == profile.values_by_stack


def test_a_profile_without_places_of_these_modules_is_left_alone(program, symbolizer):
    profile = profile_of("main;other+0x10")
    assert with_names(profile, {"program": program[0]}, symbolizer) is profile


def test_places_of_an_earlier_profile_cost_no_process(program, symbolizer, monkeypatch):
    binary, start = program
    profile = profile_of(f"program+{start:#x}")
    before = with_names(profile, {"program": binary}, symbolizer).values_by_stack
    monkeypatch.setattr("sys.executable", "/nonexistent")  # whoever starts one now fails
    assert with_names(profile, {"program": binary}, symbolizer).values_by_stack == before
