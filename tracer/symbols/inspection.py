"""A foreign file to what a store of symbols must know of it: whose names it has, and which."""

from __future__ import annotations

from typing import Any

from tracer.symbols.build_id import build_id_of
from tracer.symbols.elf import ElfError, ElfFile

BINARY, DEBUG = "binary", "debug"


def inspected(fd: int) -> dict[str, Any]:
    """`{"build_id": "93ac…", "kind": "binary", "has_lines": true}`; ElfError says why it can't name anything."""
    elf = ElfFile(fd)
    if not elf.segments:
        raise ElfError("an ELF file that no program loads: neither a binary nor its debug file")
    if not (elf.has_lines() or elf.small_symbols() or any(elf.functions())):
        raise ElfError("it has no names of functions: it is stripped, and its debug file has them")
    kind = BINARY if elf.has_section(".text") else DEBUG
    return {"build_id": build_id_of(fd) or "", "kind": kind, "has_lines": elf.has_lines()}
