"""What a call tree holds, worked out apart from the page that shows it: matches, functions, paths."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from tracer.profile.tree import CallTree


@dataclass(frozen=True, slots=True)
class Matched:
    """Frames whose name matches, and what the outermost of them hold."""

    frames: int
    total: int


def matched(tree: CallTree, pattern: str) -> Matched:
    is_named = np.array([re.search(pattern, name) is not None for name in tree.names])
    is_hit = is_named[tree.name]
    is_hit[0] = False
    is_inside = is_hit.copy()
    for level in tree.levels[1:]:
        is_inside[level] |= is_inside[tree.parent[level]]
    outermost = is_hit & ~is_inside[tree.parent]
    return Matched(int(is_hit.sum()), int(tree.totals(0)[outermost].sum()))


def self_by_function(tree: CallTree) -> dict[str, int]:
    """Of the functions that hold something themselves."""
    held: dict[int, int] = defaultdict(int)
    for name, value in zip(tree.name.tolist(), tree.selfs[0].tolist(), strict=True):
        held[name] += value
    return {tree.names[name]: value for name, value in held.items() if value}


def total_by_function(tree: CallTree) -> dict[str, int]:
    """With what each called; a frame below another of its name adds nothing."""
    total = [0] * len(tree.names)
    path: list[int] = []
    columns = zip(tree.depth.tolist(), tree.name.tolist(), tree.totals(0).tolist(), strict=True)
    next(columns)  # the root is no function
    for depth, name, value in columns:
        del path[depth - 1 :]
        if name not in path:
            total[name] += value
        path.append(name)
    return dict(zip(tree.names, total, strict=True))


def path_of(tree: CallTree, node: int) -> list[str]:
    """Names from the root's child down to the node."""
    path: list[str] = []
    while node:
        path.append(tree.names[tree.name[node]])
        node = int(tree.parent[node])
    return path[::-1]


def deepest(tree: CallTree) -> int:
    return int(tree.depth.argmax())


def narrowest(tree: CallTree) -> int:
    """Of the frames that are as narrow as any the nearest to the root: it has the most that is wider beside it."""
    totals = tree.totals(0)
    candidates = np.flatnonzero(totals == totals[totals > 0].min())
    return int(candidates[tree.depth[candidates].argmin()])
