"""The table of functions as pages have it without script: the first rows of what frontend/js/top-table.js counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tracer.profile import tree
from tracer.profile.tree import CallTree
from tracer.profile.tree.calltree import Values

TOP = 50  # by each of the columns that the table can be sorted by
NAME_CHARACTERS = 1000  # a name may have 64 kB, and a row holds a hundred


def tables(call_tree: CallTree) -> list[dict[str, Any]]:
    """By value type: {all: what 100 % is, count: of functions, rows: [[name, self, total]]}, the top by self first."""
    folded = tree.fold_allocators(call_tree)
    return [
        _table(call_tree if tree.keeps_allocators(known) else folded, column)
        for column, known in enumerate(call_tree.value_types)
    ]


def _table(call_tree: CallTree, column: int) -> dict[str, Any]:
    values = tree.function_values(call_tree, column)
    selfs, totals = values.selfs, values.totals
    picked = dict.fromkeys([*top(call_tree.names, selfs, totals), *top(call_tree.names, totals, totals)])
    rows = [[short(call_tree.names[i]), selfs[i].item(), totals[i].item()] for i in picked]
    return {"all": call_tree.widths(column)[0].item(), "count": count(call_tree), "rows": arranged(rows, by=1)}


def count(call_tree: CallTree) -> int:
    """Functions that have frames; a tree without any still has one name."""
    return len(call_tree.names) if len(call_tree) > 1 else 0


def top(names: Sequence[str], values: Values, second: Values) -> list[int]:
    """Positions of the largest, by value, then by the second, then by name, as JavaScript orders them."""
    order = np.lexsort((-second, -values))[:TOP]
    if len(order) == 0:
        return []
    last = order[-1]
    is_level = (values == values[last]) & (second == second[last])  # of these the names decide
    largest = np.flatnonzero((values > values[last]) | ((values == values[last]) & (second > second[last])))
    level = sorted(np.flatnonzero(is_level).tolist(), key=lambda i: utf16(names[i]))
    return [*largest.tolist(), *level[: TOP - len(largest)]]


def arranged(rows: Iterable[list[Any]], *, by: int, then: int = 2) -> list[list[Any]]:
    """Largest first by a column, then by another, then by name."""
    return sorted(rows, key=lambda row: (-row[by], -row[then], utf16(row[0])))


def short(name: str) -> str:
    return name if len(name) <= NAME_CHARACTERS else f"{name[: NAME_CHARACTERS - 1]}…"


def utf16(name: str) -> bytes:
    """Orders names as JavaScript compares them."""
    return name.encode("utf-16-be", "surrogatepass")
