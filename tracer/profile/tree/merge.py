"""Two call trees to one: the union of their paths, each node with its value before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracer.profile.model import ValueType
from tracer.profile.tree.calltree import CallTree, Ids, Values, with_frequent_names_first


@dataclass(frozen=True, eq=False)
class DiffTree:
    """`tree` has two columns of the same value type: before, after. A node missing on one side has 0 there."""

    value_type: ValueType
    tree: CallTree

    @property
    def before(self) -> Values:
        return self.tree.selfs[0]

    @property
    def after(self) -> Values:
        return self.tree.selfs[1]


def merge(before: CallTree, after: CallTree, value_type: str) -> DiffTree:
    """Merge by path, keeping both values of every node, so that vanished frames stay visible.

    KeyError when a side lacks the value type.
    """
    columns = before.column(value_type), after.column(value_type)
    names, renumbered = _common_names(before.names, after)
    parent, name, starts, places = _union((before, after), (before.name, renumbered), len(names))
    merged = _merged_type(before.value_types[columns[0]], after.value_types[columns[1]])
    position, depth = _preorder(parent, starts)
    selfs = []
    for tree, column, place in zip((before, after), columns, places, strict=True):
        values = np.zeros(len(parent), np.float64 if merged.is_float else np.int64)
        np.add.at(values, position[place], tree.selfs[column])  # siblings of one name are one node
        selfs.append(values)
    ordered = np.zeros(len(parent), np.int32)
    ordered[position] = name
    above = np.zeros(len(parent), np.int32)
    above[position] = position[parent]
    shown, ordered = with_frequent_names_first(names, ordered)
    union = CallTree((merged, merged), shown, ordered, depth, tuple(selfs))
    return DiffTree(merged, union.knowing(parent=above, by_level=position))


def _merged_type(before: ValueType, after: ValueType) -> ValueType:
    return replace(
        before,
        is_signed=before.is_signed or after.is_signed,
        is_float=before.is_float or after.is_float,
    )


def _common_names(names: Sequence[str], other: CallTree) -> tuple[list[str], Ids]:
    """Names of both sides, and the other tree's name column in their numbers."""
    number = {name: place for place, name in enumerate(names)}
    numbers = [number.setdefault(name, len(number)) for name in other.names]
    return list(number), np.array([*numbers, 0], np.int32)[other.name]


def _union(
    trees: tuple[CallTree, CallTree], names: tuple[Ids, Ids], name_count: int
) -> tuple[Ids, Ids, list[int], tuple[Values, Values]]:
    """Level by level: parent and name of each node of the union, where levels start, each side's nodes in the union."""
    places = (np.zeros(len(trees[0]), np.int64), np.zeros(len(trees[1]), np.int64))
    parents, united, starts, size = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], [0], 1
    for depth in range(1, max(len(trees[0].levels), len(trees[1].levels))):
        level = [tree.levels[depth] if depth < len(tree.levels) else np.zeros(0, np.int32) for tree in trees]
        # A node of the union is its parent there and its name.
        key = [
            place[tree.parent[nodes]] * name_count + name[nodes]
            for tree, place, name, nodes in zip(trees, places, names, level, strict=True)
        ]
        found, place_of = np.unique(np.concatenate(key), return_inverse=True)
        places[0][level[0]] = size + place_of[: len(level[0])]
        places[1][level[1]] = size + place_of[len(level[0]) :]
        parents.append(found // name_count)
        united.append(found % name_count)
        starts.append(size)
        size += len(found)
    return np.concatenate(parents).astype(np.int32), np.concatenate(united).astype(np.int32), [*starts, size], places


def _preorder(parent: Ids, starts: list[int]) -> tuple[Ids, Ids]:
    """Position in preorder of each node in level order, and depth by position; siblings keep their order."""
    levels = [slice(low, high) for low, high in zip(starts, starts[1:], strict=False)]
    size = np.ones(len(parent), np.int64)
    for above, level in zip(reversed(levels[:-1]), reversed(levels[1:]), strict=True):
        below = np.bincount(parent[level] - above.start, weights=size[level], minlength=above.stop - above.start)
        size[above] += below.astype(np.int64)  # of fewer than 2**53 nodes floats count exactly
    position, depth = np.zeros(len(parent), np.int32), np.zeros(len(parent), np.int32)
    for deep, level in enumerate(levels[1:], 1):
        above, before = parent[level], np.cumsum(size[level]) - size[level]
        is_first = np.diff(above, prepend=-1) != 0
        position[level] = position[above] + 1 + before - before[is_first][np.cumsum(is_first) - 1]
        depth[position[level]] = deep
    return position, depth
