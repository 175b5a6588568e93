"""A call tree to the frames of a picture: level by level, the widest of siblings first, each with its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tracer.profile.model import Number
from tracer.profile.tree.calltree import CallTree, Ids, Values
from tracer.profile.tree.prune import prune

# The script can zoom into what the file holds: 200,000 frames are about 2 MB, and are searched in a few milliseconds.
MAX_FRAMES = 200_000


@dataclass(frozen=True, slots=True)
class Absent:
    """Frames that the file does not hold: how many, what they are together, and how wide the widest is."""

    frames: int = 0
    amount: Number = 0
    widest: Number = 0


@dataclass(frozen=True, eq=False)
class Frames:
    """Columns by frame; 0 is the root, and the children of a frame stand side by side, one level below it."""

    names: Sequence[str]
    name: Ids
    children: npt.NDArray[np.int64]
    depth: Ids
    own_width: Values
    selfs: tuple[Values, ...]  # one column; before and after of a difference
    width: Values
    totals: tuple[Values, ...]
    start: Values  # left edge, in the unit of widths
    absent: Absent

    def __len__(self) -> int:
        return len(self.name)


def frames_of(tree: CallTree, own_widths: Values, columns: Sequence[Values], *, most: int = MAX_FRAMES) -> Frames:
    """`own_widths` is what a node adds to the width of all above it. Of too many the narrow ones go."""
    wide = replace(tree, selfs=(own_widths, *columns))
    width = wide.totals(0)
    is_kept = _wide_enough(width, most)
    small = wide if is_kept.all() else prune(wide, is_kept)
    kept_width = width[is_kept]
    order, start = _arranged(small, kept_width)
    place = np.zeros(len(small), np.int64)
    place[order] = np.arange(len(small))
    return Frames(
        small.names,
        small.name[order],
        np.bincount(place[small.parent[order[1:]]], minlength=len(small)),
        small.depth[order],
        small.selfs[0][order],
        tuple(column[order] for column in small.selfs[1:]),
        kept_width[order],
        tuple(small.sum_up(column)[order] for column in small.selfs[1:]),
        start[order],
        _absent(wide, width, is_kept),
    )


def _wide_enough(width: Values, most: int) -> npt.NDArray[np.bool_]:
    """At most `most` nodes; all of equal width stay or go together, so a kept node's parent is kept."""
    if len(width) <= most:
        return np.ones(len(width), np.bool_)
    is_kept: npt.NDArray[np.bool_] = width > np.partition(width, len(width) - most - 1)[len(width) - most - 1]
    is_kept[0] = True
    return is_kept


def _absent(tree: CallTree, width: Values, is_kept: npt.NDArray[np.bool_]) -> Absent:
    if is_kept.all():
        return Absent()
    tops = ~is_kept & is_kept[tree.parent]
    return Absent(int(np.count_nonzero(~is_kept)), width[tops].sum().item(), width[~is_kept].max().item())


def _arranged(tree: CallTree, width: Values) -> tuple[npt.NDArray[np.int64], Values]:
    """Nodes in the order of frames, and by node its left edge. Siblings of one width stand by name."""
    rank = np.empty(len(tree.names), np.int64)
    rank[sorted(range(len(tree.names)), key=tree.names.__getitem__)] = np.arange(len(tree.names))
    place, start = np.zeros(len(tree), np.int64), np.zeros(len(tree), width.dtype)
    order, done = [tree.levels[0]], 1
    for level in tree.levels[1:]:
        above = tree.parent[level]
        level = level[np.lexsort((rank[tree.name[level]], -width[level], place[above]))]
        above = tree.parent[level]
        place[level] = done + np.arange(len(level))
        left = np.cumsum(width[level]) - width[level]  # of the level's first frame
        is_first = np.diff(place[above], prepend=-1) != 0
        start[level] = start[above] + left - left[is_first][np.cumsum(is_first) - 1]
        order.append(level)
        done += len(level)
    return np.concatenate(order).astype(np.int64), start
