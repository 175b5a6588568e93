"""/proc/meminfo, once or several times in a file, to a table of one row each time.

https://man7.org/linux/man-pages/man5/proc_meminfo.5.html

MemTotal:        3997272 kB
MemAvailable:    3386876 kB
HugePages_Total:       0
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.procfs.table import Column, Table
from tracer.profile.formats.text import numbered_lines
from tracer.profile.model import Limits

_LINE = re.compile(r"(\w[\w()]*):\s+(\d{1,18})( kB)?\s*")
_USED = Column("used", "bytes", "level")


def read(steps: Iterator[bytes], limits: Limits) -> Table:
    table = Table("meminfo", ("moment",))
    values: dict[str, int] = {}
    for number, line in numbered_lines(steps, limits):
        found = _LINE.fullmatch(line)
        if found is None:
            if line.strip():
                table.skip(number, line, "it is no value of meminfo")
            continue
        if found[1] in values:
            _end(table, values)
            values = {}
        values[found[1]] = _take(table, found)
    _end(table, values)
    return table.finish("the file holds no value of meminfo")


def _take(table: Table, found: re.Match[str]) -> int:
    """Numbers of huge pages have no unit: they are pages of Hugepagesize."""
    name, number, kilobytes = found.groups()
    table.position(Column(name.lower(), "bytes" if kilobytes else "pages", "level"))
    return int(number) * (1024 if kilobytes else 1)


def _end(table: Table, values: dict[str, int]) -> None:
    if not values:
        return
    by_name = {name.lower(): value for name, value in values.items()}
    if (used := _used(values)) is not None:
        table.position(_USED)
        by_name[_USED.name] = used
    table.add((len(table.rows) + 1,), [by_name.get(column.name) for column in table.columns])


def _used(values: dict[str, int]) -> int | None:
    """What programs and the kernel hold; kernels before 3.14 do not say what is available, so it is estimated."""
    total = values.get("MemTotal")
    if total is None:
        return None
    free = sum(values.get(name, 0) for name in ("MemFree", "Buffers", "Cached"))
    return total - values.get("MemAvailable", free)
