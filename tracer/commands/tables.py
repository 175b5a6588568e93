"""Tables of numbers over time, as `memflame convert` shows them: a list of their columns, JSON or CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import TextIO

from tracer.procfs.table import Cell, Table

FORMS = ("json", "csv")


def listing(table: Table) -> list[dict[str, object]]:
    """One object a column. Levels of several moments have no total; `last` is there if all rows are of one thing."""
    is_one_series = len({keys[1:] for keys, _ in table.rows}) == 1
    return [
        {
            "name": column.name,
            "unit": column.unit,
            "kind": column.kind,
            "total": sum(numbers) if column.is_additive else None,
            "rows": len(numbers),
            "last": numbers[-1] if is_one_series and numbers else None,
            "skipped_lines": table.skipped_lines,
        }
        for place, column in enumerate(table.columns)
        for numbers in [list(table.numbers(place))]
    ]


def write(table: Table, form: str, out: TextIO) -> None:
    if form == "csv":
        _write_csv(table, out)
    else:
        json.dump(_document(table), out, indent=1, ensure_ascii=False)
        out.write("\n")


def _document(table: Table) -> dict[str, object]:
    return {
        "format": table.format,
        "columns": [{"name": column.name, "unit": column.unit, "kind": column.kind} for column in table.columns],
        "rows": [dict(zip(_names(table), cells, strict=True)) for cells in _rows(table)],
        "notes": table.notes,
        "skipped_lines": table.skipped_lines,
    }


def _write_csv(table: Table, out: TextIO) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_names(table))
    writer.writerows(_rows(table))


def _names(table: Table) -> list[str]:
    return [*table.keys, *(column.name for column in table.columns)]


def _rows(table: Table) -> Iterator[list[Cell]]:
    for keys, values in table.rows:
        yield [*keys, *values]
