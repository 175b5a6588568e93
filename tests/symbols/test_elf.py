"""Files made by the compiler: their functions, segments, spans, and what is no ELF file."""

from __future__ import annotations

import os

import pytest

from tracer.symbols.elf import ElfError, ElfFile
from tracer.symbols.table import table_of

BUILDS = {"pie": ["-pie", "-fPIE"], "fixed": ["-no-pie", "-fno-pie"], "library": ["-shared", "-fPIC"]}


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
    with ElfFile(built(*flags)) as elf:
        offset = elf.file_offset(elf.exported_functions()["outer"].address)
        table = table_of(elf.symbol_tables(), elf.segments)

        assert table.name_at(table.address_at(offset)) == "outer"


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


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF"])
def test_what_is_no_elf_file_is_an_error(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)

    with path.open("rb") as other, pytest.raises(ElfError):
        ElfFile(other.fileno())


def test_a_reader_of_the_same_descriptor_does_not_move_ours(built):
    fd = built(*BUILDS["library"])
    with ElfFile(fd) as elf:
        os.lseek(fd, 100, os.SEEK_SET)

        assert "outer" in elf.exported_functions()
