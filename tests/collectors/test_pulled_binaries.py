"""Places of a pulled profile get names by the files of this host, unless those are others than it was made with."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracer.collectors.pulled_binaries import PulledBinaries
from tracer.profile.model import Profile
from tracer.protocol import HEAP_VALUE_TYPES
from tracer.symbols.build_id import build_id_of
from tracer.symbols.elf import ElfFile


@pytest.fixture
def library() -> tuple[str, int, str]:
    """The C library's path, where its `qsort` is in the file, and its build id."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    path = next(line.split()[-1] for line in maps if line.endswith("/libc.so.6"))
    with Path(path).open("rb") as file, ElfFile(file.fileno()) as elf:
        offset = elf.file_offset(elf.exported_functions()["qsort"].address)
        build_id = build_id_of(file.fileno())
    assert offset is not None and build_id is not None
    return path, offset, build_id


@pytest.fixture
def binaries() -> Iterator[PulledBinaries]:
    """Of a profile whose process nobody knows."""
    found = PulledBinaries(None)
    yield found
    found.close()


def profile_of(*stack: str, **capture: object) -> Profile:
    profile = Profile(HEAP_VALUE_TYPES[:1], capture=capture)
    profile.add(stack, [4096])
    return profile


def test_a_place_is_named_by_the_file_that_the_profile_lists(library, binaries):
    path, offset, _ = library
    profile = profile_of("main", f"libc.so.6+{offset:#x}", modules={"libc.so.6": path})

    named = binaries.named(profile, taken_at=time.time())

    assert list(named.values_by_stack) == [("main", "qsort")]
    assert named.capture == {}


def test_a_file_that_is_newer_than_the_profile_names_nothing(library, binaries):
    path, offset, _ = library
    profile = profile_of(f"libc.so.6+{offset:#x}", modules={"libc.so.6": path})

    named = binaries.named(profile, taken_at=Path(path).stat().st_mtime - 1)

    assert named.values_by_stack == profile.values_by_stack
    assert named.capture["notes"] == [f"{path} is newer than the profile: its functions are not named by it."]
    assert named.capture["modules"] == {"libc.so.6": path}


def test_a_file_of_another_build_names_nothing(library, binaries):
    path, offset, build_id = library
    place, modules = f"libc.so.6+{offset:#x}", {"libc.so.6": path}

    other = binaries.named(profile_of(place, modules=modules, build_ids={"libc.so.6": "ab" * 20}), taken_at=0)
    same = binaries.named(profile_of(place, modules=modules, build_ids={"libc.so.6": build_id}), taken_at=0)

    assert list(other.values_by_stack) == [(place,)]
    assert list(same.values_by_stack) == [("qsort",)]
    assert "is of another build than the profile" in str(other.capture["notes"])
    assert other.capture["build_ids"] == {"libc.so.6": "ab" * 20}


def test_what_has_no_name_keeps_the_build_id_of_its_file(library, binaries):
    path, _, build_id = library

    named = binaries.named(profile_of("libc.so.6+0x10", modules={"libc.so.6": path}), taken_at=time.time())

    assert named.capture == {"modules": {"libc.so.6": path}, "build_ids": {"libc.so.6": build_id}}


def test_nameless_ends_of_stacks_inside_an_allocator_are_one_frame(binaries):
    profile = profile_of("main", "libjemalloc.so.2+0x10", "cache", "libjemalloc.so.2+0x20", "libjemalloc.so.2+0x30")

    named = binaries.named(profile, taken_at=time.time())

    assert list(named.values_by_stack) == [("main", "libjemalloc.so.2+0x10", "cache", "[inside libjemalloc.so.2]")]
