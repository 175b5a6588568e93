"""A call tree to the same tree under aligned names: siblings may share a name until the tree is merged with another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tracer.profile.alignment import Alignment
from tracer.profile.tree.calltree import CallTree, Values


def aligned(tree: CallTree, alignment: Alignment) -> CallTree:
    """Totals stay the same. Each unique name is looked at once; a frame without a name counts as its caller's."""
    if not alignment:
        return tree
    new = alignment.names(tree.names)
    number = {name: place for place, name in enumerate(dict.fromkeys(new))}
    numbers = np.array([number[name] for name in new] or [0], np.int32)
    renamed = replace(tree, names=list(number) or [""], name=numbers[tree.name])
    return _without(renamed, renamed.name == number[""]) if "" in number else renamed


def _without(tree: CallTree, is_gone: npt.NDArray[np.bool_]) -> CallTree:
    """What the frames hold goes to the nearest caller that stays, and so do those that they called."""
    is_gone[0] = False
    above = np.arange(len(tree))
    depth = tree.depth.copy()
    for level in tree.levels[1:]:
        parent = tree.parent[level]
        above[level] = np.where(is_gone[level], above[parent], level)
        depth[level] = depth[parent] + ~is_gone[level]
    return replace(
        tree,
        name=tree.name[~is_gone],
        depth=depth[~is_gone],
        selfs=tuple(_moved(column, above)[~is_gone] for column in tree.selfs),
    )


def _moved(column: Values, above: npt.NDArray[np.int64]) -> Values:
    moved = np.zeros_like(column)
    np.add.at(moved, above, column)
    return moved
