"""A binary, and the file of its debug information if there is one, to the entry of its names."""

from __future__ import annotations

import os

from tracer.symbols.elf import DebugLink, ElfError, ElfFile, RawSymbols
from tracer.symbols.entry import packed_entry
from tracer.symbols.lines import packed_lines
from tracer.symbols.table import table_of


def missing_debug_file(binary: int) -> DebugLink | None:
    """What a binary without debug information says where it is."""
    elf = ElfFile(binary)
    return None if elf.has_lines() else elf.debug_link()


def made_entry(binary: int, debug: int | None, *, missing: DebugLink | None, with_lines: bool) -> bytes:
    """ElfError for a binary that can't be read; a debug file that can't be read adds nothing."""
    elf = ElfFile(binary)
    tables = [*elf.symbol_tables(), *_small_table(elf)]
    lines = packed_lines(binary) if with_lines and elf.has_lines() else b""
    if debug is not None:
        more_tables, more_lines = _of_debug_file(debug, with_lines and not lines)
        tables, lines = [*tables, *more_tables], lines or more_lines
    return packed_entry(table_of(tables, elf.segments), elf.segments, lines, missing)


def _small_table(elf: ElfFile) -> list[RawSymbols]:
    content = elf.small_symbols()
    if not content:
        return []
    fd = os.memfd_create("symbols")
    try:
        os.pwrite(fd, content, 0)
        return list(ElfFile(fd).symbol_tables())
    finally:
        os.close(fd)


def _of_debug_file(debug: int, with_lines: bool) -> tuple[list[RawSymbols], bytes]:
    try:
        elf = ElfFile(debug)
        return list(elf.symbol_tables()), packed_lines(debug) if with_lines and elf.has_lines() else b""
    except ElfError:
        return [], b""
