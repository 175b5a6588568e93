"""Which name an address gets."""

from __future__ import annotations

from tracer.symbols.elf import Segment, Symbol
from tracer.symbols.table import SymbolTable

TEXT = Segment(offset=0x1000, address=0x401000, file_bytes=0x1000)


def table(*symbols: tuple[int, int, str], is_local: bool = False) -> SymbolTable:
    return SymbolTable([Symbol(address, size, name, is_local) for address, size, name in symbols], [TEXT])


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

    assert known.name_at(0x401000) == "store::add()"


def test_a_file_offset_is_translated_by_the_segments():
    known = table((0x401234, 0x10, "found"))

    assert known.name_at_offset(0x1238) == "found"
    assert known.name_at_offset(0x2000) is None
