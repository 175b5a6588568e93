"""Symbol tables by build id: two processes, or two runs, of one binary share one table."""

from __future__ import annotations

import os

from tracer.symbols.elf import ElfError, ElfFile
from tracer.symbols.table import SymbolTable


class SymbolCache:
    """In memory only. A file without a build id is known by device, inode and time of change."""

    def __init__(self) -> None:
        self._table_by_build_id: dict[str, SymbolTable] = {}
        self._table_by_file: dict[tuple[int, int, int], SymbolTable | ElfError] = {}

    def table(self, fd: int) -> SymbolTable:
        """ElfError for a file that is no readable ELF file; it is not read again."""
        status = os.fstat(fd)
        file = (status.st_dev, status.st_ino, status.st_mtime_ns)
        if file not in self._table_by_file:
            try:
                self._table_by_file[file] = self._read(fd)
            except ElfError as error:
                self._table_by_file[file] = error
        table = self._table_by_file[file]
        if isinstance(table, ElfError):
            raise table
        return table

    def _read(self, fd: int) -> SymbolTable:
        with ElfFile(fd) as elf:
            build_id = elf.build_id()
            if build_id is None:
                return SymbolTable(elf.functions(), elf.segments)
            if build_id not in self._table_by_build_id:
                self._table_by_build_id[build_id] = SymbolTable(elf.functions(), elf.segments)
            return self._table_by_build_id[build_id]
