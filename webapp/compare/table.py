"""What changed by function and by path, as frontend/js/diff.js and the table of the compare page count it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tracer.profile import tree
from tracer.profile.tree import CallTree, DiffTree
from tracer.profile.tree.calltree import Values
from webapp.runs.functions import arranged, count, short, top, utf16

Sides = tuple[Values, Values]


def table_of(diff: DiffTree) -> dict[str, Any]:
    """Numbers for the page without script; what allocators hold counts as their callers'.

    rows: [[name, self before, self after, self change, total before, total change]], those whose self value changed
    most; first: [name, self change] of the finding; new, gone: [paths that are on one side only, their change].
    """
    union = diff.tree if tree.keeps_allocators(diff.value_type) else tree.fold_allocators(diff.tree)
    totals = union.totals(0), union.totals(1)
    changes = union.selfs[1] - union.selfs[0]
    return {
        "totals": [side[0].item() for side in totals],
        "moved": [changes[changes > 0].sum().item(), -changes[changes < 0].sum().item()],
        "new": _one_sided(union, totals, (totals[0] == 0) & (totals[1] != 0)),
        "gone": _one_sided(union, totals, (totals[1] == 0) & (totals[0] != 0)),
        **_functions(union, (totals[1][0] - totals[0][0]).item()),
    }


def _one_sided(union: CallTree, totals: Sides, is_on_one: npt.NDArray[np.bool_]) -> list[Any]:
    """Counted at their uppermost frame."""
    is_top = is_on_one & ~((union.parent > 0) & is_on_one[union.parent])
    is_top[0] = False
    return [int(np.count_nonzero(is_top)), (totals[1] - totals[0])[is_top].sum().item()]


def _functions(union: CallTree, net: float) -> dict[str, Any]:
    if len(union) == 1:
        return {"count": 0, "largest": 0, "first": None, "rows": []}
    before, after = (tree.function_values(union, side) for side in (0, 1))
    changes = after.selfs - before.selfs
    picked = top(union.names, np.abs(changes), before.totals)
    columns = [before.selfs, after.selfs, changes, before.totals, after.totals - before.totals]
    rows = [[short(union.names[i]), *(column[i].item() for column in columns)] for i in picked]
    return {
        "count": count(union),
        "largest": np.abs(changes).max().item(),
        "first": _first(union, changes if net >= 0 else -changes, before.totals, changes),
        "rows": arranged(rows, by=3, then=4),
    }


def _first(union: CallTree, ranked: Values, totals: Values, changes: Values) -> list[Any]:
    """The function that moved most in the direction of the whole."""
    level = np.flatnonzero(ranked == ranked.max()).tolist()
    place = min(level, key=lambda i: (-totals[i], utf16(union.names[i])))
    return [short(union.names[place]), changes[place].item()]
