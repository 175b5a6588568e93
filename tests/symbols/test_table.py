"""Which name an address gets."""

from __future__ import annotations

import struct

import pytest

from tracer.symbols.elf import RawSymbols, Segment
from tracer.symbols.table import SymbolTable, table_of

TEXT = Segment(offset=0x1000, address=0x401000, file_bytes=0x1000)


def raw(*symbols: tuple[int, int, str]) -> RawSymbols:
    """A section of global functions as it is in a file."""
    entries, text = b"", b"\0"
    for address, size, name in symbols:
        entries += struct.pack("=IBBHQQ", len(text), 1 << 4 | 2, 0, 1, address, size)
        text += name.encode() + b"\0"
    return RawSymbols(entries, text)


def table(*symbols: tuple[int, int, str]) -> SymbolTable:
    return table_of([raw(*symbols)], [TEXT])


def test_an_address_inside_a_function_has_its_name():
    known = table((0x401000, 0x20, "first"), (0x401020, 0x10, "second"))

    assert [known.name_at(address) for address in (0x401000, 0x40101F, 0x401020, 0x40102F)] == [
        "first", "first", "second", "second",
    ]  # fmt: skip


def test_a_gap_between_functions_has_no_name():
    known = table((0x401000, 0x10, "first"), (0x401020, 0x10, "second"))

    assert known.name_at(0x401010) is None
    assert known.name_at(0x400FFF) is None


def test_a_function_without_a_size_reaches_to_the_next_one():
    known = table((0x401000, 0, "assembly"), (0x401020, 0x10, "second"))

    assert known.name_at(0x40101F) == "assembly"


def test_a_small_symbol_inside_a_function_does_not_hide_the_rest_of_it():
    known = table((0x401000, 0x100, "outer"), (0x401010, 4, "inner"))

    assert [known.name_at(address) for address in (0x401012, 0x401014)] == ["inner", "outer"]


def test_of_several_names_the_one_that_programs_use_is_shown():
    known = table((0x401000, 8, "__libc_malloc"), (0x401000, 8, "malloc"), (0x401000, 8, "__malloc"))

    assert known.name_at(0x401000) == "malloc"


def test_a_mangled_name_does_not_lose_to_an_alias_for_its_underscore():
    known = table((0x401000, 8, "_ZN5store3addEv"), (0x401000, 8, "_start_of_store"))

    assert known.name_at(0x401000) == "_ZN5store3addEv"


def test_a_file_offset_is_translated_by_the_segments():
    known = table((0x401234, 0x10, "found"))

    assert known.name_at(known.address_at(0x1238)) == "found"
    assert known.address_at(0x2000) is None


def test_symbols_of_two_tables_are_one_table():
    known = table_of([raw((0x401000, 8, "own")), raw((0x401000, 8, "own"), (0x401010, 8, "debug"))], [TEXT])

    assert [known.name_at(address) for address in (0x401000, 0x401010)] == ["own", "debug"]
    assert len(known) == 2


def test_a_packed_table_names_the_same():
    known = table((0x401000, 0x20, "first"), (0x401020, 0, "second"))

    opened = SymbolTable.unpacked(memoryview(known.packed()))

    assert [opened.name_at(address) for address in range(0x400FFF, 0x401030)] == [
        known.name_at(address) for address in range(0x400FFF, 0x401030)
    ]
    assert opened.address_at(0x1004) == 0x401004


@pytest.mark.parametrize("size", [0, 8, 20, 100])
def test_a_packed_table_that_is_cut_short_is_refused(size):
    packed = table(*((0x401000 + n, 1, f"name{n}") for n in range(9))).packed()

    with pytest.raises(ValueError, match="table of symbols"):
        SymbolTable.unpacked(memoryview(packed[:size]))
