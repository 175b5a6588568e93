"""A call tree as columns in preorder: node 0 is the root "all", a parent stands before its children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tracer.profile.model import Number, Stack, ValueType

ROOT = "all"
Ids = npt.NDArray[np.int32]
Values = npt.NDArray[Any]  # int64, or float64 where the value type is


@dataclass(frozen=True, eq=False)
class CallTree:
    """Stacks merged by common prefix. `name[0]` is not used: the root has no frame."""

    value_types: tuple[ValueType, ...]
    names: Sequence[str]  # the frequent ones first
    name: Ids  # index into names, by node
    depth: Ids  # 0 for the root
    selfs: tuple[Values, ...]  # self values by node, one column per value type
    capture: Mapping[str, object] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.name)

    def column(self, value_type: str) -> int:
        """Position of a value type by name; KeyError names those that there are."""
        for position, known in enumerate(self.value_types):
            if known.name == value_type:
                return position
        raise KeyError(f"no value type {value_type!r}, there is {', '.join(v.name for v in self.value_types)}")

    @cached_property
    def levels(self) -> list[Ids]:
        """Nodes of each depth, in preorder."""
        ends = np.cumsum(np.bincount(self.depth)).tolist()
        return [self._by_level[low:high] for low, high in zip([0, *ends], ends, strict=False)]

    @cached_property
    def parent(self) -> Ids:
        """By node; the root is its own parent."""
        # A node's parent is the last node of the level above that stands before it in preorder.
        parent = np.zeros(len(self), np.int32)
        for above, level in pairwise(self.levels):
            parent[level] = above[np.searchsorted(above, level) - 1]
        return parent

    @cached_property
    def _by_level(self) -> Ids:
        # Numbers of 16 bits are sorted by counting, five times as fast.
        is_shallow = self.depth.max(initial=0) < 1 << 16
        return np.argsort(self.depth.astype(np.uint16) if is_shallow else self.depth, kind="stable").astype(np.int32)

    def knowing(self, *, parent: Ids, by_level: Ids) -> CallTree:
        """The same tree, told what it would work out itself: its maker had both at hand."""
        self.__dict__.update(parent=parent, _by_level=by_level)
        return self

    @cached_property
    def ends(self) -> Values:
        """By node: the first node after its subtree."""
        # A subtree ends where the next sibling begins, of the node itself or of the nearest ancestor that has one.
        order, parent = self._by_level, self.parent
        has_next = np.append(parent[order[1:]] == parent[order[:-1]], False)
        has_next[0] = False  # the root is its own parent
        end = np.full(len(self), len(self), np.int64)
        end[order[:-1][has_next[:-1]]] = order[1:][has_next[:-1]]
        source = np.where(end < len(self), np.arange(len(self)), parent)
        while (jumped := source[source]).tobytes() != source.tobytes():  # twice as far each time
            source = jumped
        return end[source]

    def sum_up(self, values: Values) -> Values:
        """Each node's value with those of all nodes below it. Every total anywhere is computed here."""
        if values.dtype.kind != "f":
            running = np.concatenate(([0], np.cumsum(values)))
            return running[self.ends] - running[:-1]
        total = values.copy()  # differences of running sums would lose small fractions beside large ones
        for level in reversed(self.levels[1:]):
            np.add.at(total, self.parent[level], total[level])
        return total

    def totals(self, column: int) -> Values:
        """Total values by node; the root's is the total of the profile."""
        return self.sum_up(self.selfs[column])

    def widths(self, column: int) -> Values:
        """What a node is drawn as wide as: its total, or the sum of amounts where values can be negative."""
        return self.sum_up(np.abs(self.selfs[column]))

    def total(self, column: int) -> Number:
        total: Number = self.totals(column)[0].item()
        return total

    def rows(self) -> Iterator[tuple[Stack, list[Number]]]:
        """Stacks with a value other than 0 in any column, in preorder."""
        path: list[str] = []
        columns = zip(*(column.tolist() for column in self.selfs), strict=True)
        for depth, name, values in zip(self.depth.tolist(), self.name.tolist(), columns, strict=True):
            if depth:
                path[depth - 1 :] = [self.names[name]]
            if any(values):
                yield tuple(path), list(values)


def with_frequent_names_first(names: Sequence[str], name: Ids) -> tuple[list[str], Ids]:
    """Drop names that no node has and renumber the rest, so that common names have small ids: they compress well."""
    count = np.bincount(name[1:], minlength=len(names))
    order = np.argsort(-count, kind="stable")[: np.count_nonzero(count)]
    rank = np.zeros(max(len(names), 1), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    renumbered = rank[name]
    renumbered[0] = 0
    return [names[number] for number in order.tolist()], renumbered
