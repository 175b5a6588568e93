"""/proc/PID/smaps and smaps_rollup to a table of one row a mapping.

https://man7.org/linux/man-pages/man5/proc_pid_smaps.5.html

55a9e753c000-55a9e7570000 r--p 00000000 fd:00 798126                     /usr/lib/systemd/systemd
Size:                208 kB
Rss:                 208 kB
VmFlags: rd mr mw me dw sd
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.procfs.table import Cell, Column, Table
from tracer.profile.formats.text import numbered_lines
from tracer.profile.model import Limits

_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) ([0-9a-f]+:[0-9a-f]+) (\d+)(?:\s+(\S.*?))?\s*")
_VALUE = re.compile(r"(\w+):\s+(\d{1,18})( kB)?\s*")
_FLAGS = re.compile(r"VmFlags:.*")
_PAGE_SIZES = ("KernelPageSize", "MMUPageSize")  # of each mapping: they add up to nothing
_SHARES = "A page that several processes share is in the rss of each; pss counts its part, so sum that over processes."


def read(steps: Iterator[bytes], limits: Limits) -> Table:
    table = Table("smaps", ("start", "end", "permissions", "offset", "device", "inode", "path"), notes=[_SHARES])
    values: list[Cell] = []  # of the mapping that is read
    for number, line in numbered_lines(steps, limits):
        if mapping := _MAPPING.fullmatch(line):
            values = table.add(_keys(mapping))
        elif (value := _VALUE.fullmatch(line)) and table.rows:
            _put(table, values, value)
        elif line.strip() and not _FLAGS.fullmatch(line):
            table.skip(number, line, "it is neither a mapping nor a value of one")
    return table.finish("the file holds no mapping")


def _keys(mapping: re.Match[str]) -> tuple[Cell, ...]:
    start, end, permissions, offset, device, inode, path = mapping.groups()
    return f"0x{start}", f"0x{end}", permissions, int(offset, 16), device, int(inode), path or ""


def _put(table: Table, values: list[Cell], found: re.Match[str]) -> None:
    """Names differ by kernel: whatever it writes is kept. Without kB it is a number or a yes and no."""
    name, number, kilobytes = found.groups()
    is_additive = bool(kilobytes) and name not in _PAGE_SIZES
    place = table.position(Column(name.lower(), "bytes" if kilobytes else "", "level", is_additive))
    values += [None] * (place + 1 - len(values))
    values[place] = int(number) * (1024 if kilobytes else 1)
