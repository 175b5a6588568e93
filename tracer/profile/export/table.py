"""A call tree, or a difference of two, to the table of its functions as comma-separated values."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import TextIO

from tracer.profile.tree import CallTree, DiffTree, function_values
from tracer.profile.tree.calltree import Values

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run what begins so


def write_table(tree: CallTree, out: TextIO) -> None:
    """A row a function, the largest amount of the first value type first: self and total of each value type.

    A function that calls itself counts once in its total. Whole numbers are written whole, whatever their size.
    """
    columns: dict[str, Values] = {}
    for column, known in enumerate(tree.value_types):
        found = function_values(tree, column)
        columns |= {f"{known.name} self": found.selfs, f"{known.name} total": found.totals}
    _write(tree.names, columns, list(columns)[1], out)


def write_change_table(diff: DiffTree, out: TextIO) -> None:
    """A row a function, the one first whose self value changed most."""
    before, after = (function_values(diff.tree, side) for side in (0, 1))
    columns = {
        "self before": before.selfs,
        "self after": after.selfs,
        "self change": after.selfs - before.selfs,
        "total before": before.totals,
        "total after": after.totals,
        "total change": after.totals - before.totals,
    }
    named = {f"{diff.value_type.name} {title}": values for title, values in columns.items()}
    _write(diff.tree.names, named, list(named)[2], out)


def _write(names: Sequence[str], columns: Mapping[str, Values], by: str, out: TextIO) -> None:
    writer = csv.writer(out)
    writer.writerow(["function", *columns])
    numbers = [column.tolist() for column in columns.values()]
    keys = columns[by].tolist()
    for place in sorted(range(len(names)), key=lambda place: (-abs(keys[place]), names[place])):
        writer.writerow([_cell(names[place]), *(column[place] for column in numbers)])


def _cell(name: str) -> str:
    return f"'{name}" if name.startswith(_FORMULA) else name
