"""Files made by the compiler: their functions, segments, spans, and what is no ELF file."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tracer.symbols.cache import SymbolCache
from tracer.symbols.elf import ElfError, ElfFile

SOURCE = """
static __attribute__((noinline)) int inner(int n) { __asm__ volatile(""); return n + 1; }
int outer(int n) { return inner(n) + 2; }
"""
BUILDS = {"pie": ["-pie", "-fPIE"], "fixed": ["-no-pie", "-fno-pie"], "library": ["-shared", "-fPIC"]}

Built = Callable[..., int]


@pytest.fixture
def built(tmp_path: Path) -> Iterator[Built]:
    """Compile the source; gives an open descriptor."""
    fds: list[int] = []

    def compiled(*flags: str, source: str = SOURCE) -> int:
        path = tmp_path / f"built{len(fds)}"
        main = "" if "-shared" in flags else "\nint main(void) { return outer(1); }"
        command = ["gcc", "-O1", "-g0", "-x", "c", "-o", path, *flags, "-"]
        subprocess.run(command, input=source + main, text=True, check=True)
        fds.append(os.open(path, os.O_RDONLY))
        return fds[-1]

    yield compiled
    for fd in fds:
        os.close(fd)


@pytest.mark.parametrize("flags", BUILDS.values(), ids=list(BUILDS))
def test_functions_are_read_with_their_place_and_size(built, flags):
    with ElfFile(built(*flags)) as elf:
        functions = {symbol.name: symbol for symbol in elf.functions()}

        assert functions["outer"].size > 0
        assert not functions["outer"].is_local
        assert functions["inner"].is_local


def test_only_what_others_may_call_is_exported(built):
    with ElfFile(built(*BUILDS["library"])) as elf:
        exported = elf.exported_functions()

    assert "outer" in exported
    assert "inner" not in exported


@pytest.mark.parametrize("flags", BUILDS.values(), ids=list(BUILDS))
def test_an_offset_of_the_file_leads_back_to_the_function(built, flags):
    fd = built(*flags)
    with ElfFile(fd) as elf:
        offset = elf.file_offset(elf.exported_functions()["outer"].address)

    assert SymbolCache().table(fd).name_at_offset(offset) == "outer"


@pytest.mark.parametrize("flags", BUILDS.values(), ids=list(BUILDS))
def test_the_unwind_tables_tell_where_a_function_ends(built, flags):
    with ElfFile(built(*flags)) as elf:
        outer = elf.exported_functions()["outer"]
        span = range(outer.address, outer.address + outer.size)

        assert elf.spans().span_at(outer.address) == span
        assert elf.spans().span_at(span[-1]) == span
        assert elf.spans().span_at(0) is None


def test_code_is_read_at_its_address(built):
    with ElfFile(built(*BUILDS["library"])) as elf:
        outer = elf.exported_functions()["outer"]

        assert b"\xc3" in elf.code(outer.address, outer.size)


def test_an_address_outside_of_all_segments_is_an_error(built):
    with ElfFile(built(*BUILDS["pie"])) as elf, pytest.raises(ElfError, match="holds address 0x7fffffff"):
        elf.file_offset(0x7FFFFFFF)


def test_files_of_one_build_share_a_table(built):
    cache = SymbolCache()

    assert cache.table(built("-Wl,--build-id")) is cache.table(built("-Wl,--build-id"))


def test_files_without_a_build_id_have_tables_of_their_own(built):
    cache = SymbolCache()
    first, second = built("-Wl,--build-id=none"), built("-Wl,--build-id=none")

    assert cache.table(first) is not cache.table(second)
    assert cache.table(first) is cache.table(first)


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF"])
def test_what_is_no_elf_file_is_an_error_each_time(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    cache = SymbolCache()

    with path.open("rb") as other:
        for _ in range(2):
            with pytest.raises(ElfError):
                cache.table(other.fileno())
