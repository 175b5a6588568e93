"""What `pidstat -r -o JSON` prints to the same table as its text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tracer.procfs.pidstat import COLUMNS, EMPTY, KEYS
from tracer.procfs.table import Cell, Table
from tracer.profile.errors import MalformedProfile
from tracer.profile.formats.json_document import document, number, rows
from tracer.profile.model import Limits

# Names in JSON of what the text has in its heads.
_NAMES = {**{name: name for name in COLUMNS}, "MEM": "%MEM"}


def read(steps: Iterator[bytes], limits: Limits) -> Table:
    table = Table("pidstat", KEYS)
    for host in rows(document(steps), "sysstat", "hosts"):
        for moment in rows(host, "statistics"):
            for block in _memory_blocks(moment):
                for row in block:
                    _take(table, str(moment.get("timestamp", "")), row)
    return table.finish(EMPTY)


def _memory_blocks(moment: Any) -> Iterator[list[Any]]:
    if not isinstance(moment, dict):
        raise MalformedProfile(f"a moment is {str(moment)[:40]!r}, expected a JSON object")
    for name, block in moment.items():
        if name.endswith("memory") and isinstance(block, list):
            yield block


def _take(table: Table, time: str, row: Any) -> None:
    if not isinstance(row, dict):
        raise MalformedProfile(f"a row is {str(row)[:40]!r}, expected a JSON object")
    cells: dict[int, Cell] = {}
    for key, value in row.items():
        if key in _NAMES:
            column = COLUMNS[_NAMES[key]]
            amount = number(value, key)
            if not math.isfinite(amount):
                raise MalformedProfile(f"{key} is {amount}, expected a number")
            cells[table.position(column)] = int(amount * 1024) if column.unit == "bytes" else amount
    table.add(_keys(time, row), [cells.get(place) for place in range(len(table.columns))])


def _keys(time: str, row: dict[str, Any]) -> tuple[Cell, ...]:
    user = str(row.get("USER", row.get("UID", "")))
    process, thread = row.get("TGID", row.get("PID", "")), row.get("TID", "")
    return time, user, _whole(process), _whole(thread), str(row.get("cmd", ""))


def _whole(value: Any) -> int | None:
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 19 else None
