"""A call tree to its functions: self and total value by name, recursion counted once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tracer.profile.tree.calltree import CallTree, Values


@dataclass(frozen=True, eq=False)
class FunctionValues:
    """By index into the tree's names."""

    selfs: Values
    totals: Values


def function_values(tree: CallTree, column: int) -> FunctionValues:
    """A function's total is the sum over its outermost frames: `a;a;a 10` gives `a` a total of 10."""
    selfs = np.zeros(len(tree.names), tree.selfs[column].dtype)
    np.add.at(selfs, tree.name[1:], tree.selfs[column][1:])
    totals = np.zeros_like(selfs)
    outermost = 1 + np.flatnonzero(~is_nested(tree)[1:])
    np.add.at(totals, tree.name[outermost], tree.totals(column)[outermost])
    return FunctionValues(selfs, totals)


def is_nested(tree: CallTree) -> npt.NDArray[np.bool_]:
    """Whether a frame of the same name stands above the node."""
    node = 1 + np.argsort(tree.name[1:], kind="stable")  # by name, then in preorder
    # Going through one name's nodes, a node lies inside an earlier one when it comes before the furthest end so far.
    offset = tree.name[node].astype(np.int64) * (len(tree) + 1)  # keeps the ends of one name from the next
    furthest = np.maximum.accumulate(np.concatenate(([0], (tree.ends[node] + offset)[:-1])))
    nested = np.zeros(len(tree), np.bool_)
    nested[node] = furthest > node + offset
    return nested
