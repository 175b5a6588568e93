"""Trees of one run's flow to the tree of what happened between two of its snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce

import numpy as np

from tracer.profile.tree.calltree import CallTree, Values
from tracer.profile.tree.merge import merge
from tracer.profile.tree.prune import prune


class NotAFlow(ValueError):
    """A level has a value at a moment and none of an interval; the text is for people."""


def interval(earlier: CallTree, later: CallTree, value_type: str) -> CallTree:
    """What was counted from one to the other, where both count since the same moment: later minus earlier.

    Exact where values are integers. Estimates may have shrunk: such a frame is negative, and the value type signed.
    """
    return _moving(_of_both(earlier, later, value_type, np.subtract))


def together(trees: Iterable[CallTree], value_type: str) -> CallTree:
    """What was counted in several intervals that follow each other, each of which counts its own only."""
    alone = (_alone(tree, value_type) for tree in trees)
    return _moving(reduce(lambda one, other: _of_both(one, other, value_type, np.add), alone))


def _alone(tree: CallTree, value_type: str) -> CallTree:
    column = tree.column(value_type)
    return replace(tree, value_types=(tree.value_types[column],), selfs=(tree.selfs[column],))


def _of_both(earlier: CallTree, later: CallTree, value_type: str, of: Callable[[Values, Values], Values]) -> CallTree:
    both = merge(earlier, later, value_type)
    if both.value_type.kind != "flow":
        raise NotAFlow(f"{value_type} is a level: it has a value at a moment, and none of an interval")
    values = of(both.after, both.before)
    known = replace(both.value_type, is_signed=both.value_type.is_signed or bool((values < 0).any()))
    return replace(both.tree, value_types=(known,), selfs=(values,))


def _moving(tree: CallTree) -> CallTree:
    """Without the paths where nothing happened."""
    is_kept = tree.widths(0) > 0
    is_kept[0] = True
    return prune(tree, is_kept)
