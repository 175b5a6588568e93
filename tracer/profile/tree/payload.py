"""A call tree to what the viewer draws: FGB2, binary columns in level order.

"FGB2" | u32 little-endian length of the header | header, JSON in UTF-8 | sections in the header's order:
nch: number of children | name: id into strings | self (before) | self2 (after, of a difference) | strings, NUL between
docs/formats.md has the whole form; tests/view has examples that JavaScript reads too.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tracer.profile.model import ValueType
from tracer.profile.tree.calltree import CallTree, Values, with_frequent_names_first
from tracer.profile.tree.merge import DiffTree
from tracer.profile.tree.prune import overview as overview_of
from tracer.profile.tree.prune import prune
from tracer.profile.tree.varint import uvarint, zigzag

MAGIC = b"FGB2"
# A graph no larger than an overview may be is there sooner in one answer than in two.
_WHOLE_UP_TO = 60_000  # bytes, compressed
_TRIED_UP_TO = 65_536  # nodes: more of them never take so little


@dataclass(frozen=True, slots=True)
class EncodedPayload:
    """`data` is an FGB2 payload, not compressed; `is_full` says that nothing was pruned, so it is all there is."""

    data: bytes
    is_full: bool


def encode(tree: CallTree, column: int, *, overview: bool, run: Mapping[str, object] | None = None) -> EncodedPayload:
    """The payload of one value type of a tree, by position in `tree.value_types`.

    With `overview`, nodes under a 2000th of the total are pruned and counted as their parents' own; a tree that takes
    60 kB or less, or has negative values, is never pruned. So for the stage "overview" call with overview=True and gzip
    `data`; only if its `is_full` is False call again with overview=False for the stage "full". `run` goes into the
    header as it is. The same tree gives the same bytes.
    """
    return _encode(tree, tree.value_types[column], (column,), tree.widths(column), overview, run)


def encode_pruned(tree: CallTree, column: int) -> EncodedPayload:
    """As `encode` with `overview`, but pruned even if all of it would take less than 60 kB."""
    value_type = tree.value_types[column]
    return _pruned(tree, (column,), tree.widths(column), _about(value_type, None))


def encode_diff(diff: DiffTree, *, overview: bool, run: Mapping[str, object] | None = None) -> EncodedPayload:
    """The payload of a difference: `self` before, `self2` after; otherwise as `encode`."""
    # As wide as the larger side, and at least as wide as its children: the viewer adds up the same.
    widths = diff.tree.sum_up(np.maximum(np.abs(diff.before), np.abs(diff.after)))
    return _encode(diff.tree, diff.value_type, (0, 1), widths, overview, run)


def _encode(
    tree: CallTree,
    value_type: ValueType,
    columns: Sequence[int],
    widths: Values,
    overview: bool,
    run: Mapping[str, object] | None,
) -> EncodedPayload:
    selfs = [tree.selfs[column] for column in columns]
    about = _about(value_type, run)
    if not overview or _has_no_overview(value_type, selfs):
        return EncodedPayload(_payload(tree, selfs, widths, about), is_full=True)
    if len(tree) <= _TRIED_UP_TO and _is_small(whole := _payload(tree, selfs, widths, about)):
        return EncodedPayload(whole, is_full=True)
    return _pruned(tree, columns, widths, about)


def _about(value_type: ValueType, run: Mapping[str, object] | None) -> dict[str, Any]:
    return {"value_type": asdict(value_type), "overview": None, "run": dict(run or {})}


def _pruned(tree: CallTree, columns: Sequence[int], widths: Values, about: dict[str, Any]) -> EncodedPayload:
    is_kept, least = overview_of(widths)
    about["overview"] = {"full_nodes": len(tree), "min_total": least}
    small = prune(tree, is_kept)
    data = _payload(small, [small.selfs[column] for column in columns], widths[is_kept], about)
    return EncodedPayload(data, is_full=False)


def _has_no_overview(value_type: ValueType, selfs: Sequence[Values]) -> bool:
    # With negative values a pruned node's amount can't be kept apart from its net, so widths would be wrong.
    return value_type.is_signed or any((column < 0).any() for column in selfs)


def _is_small(data: bytes) -> bool:
    return len(zlib.compress(data)) <= _WHOLE_UP_TO


def _payload(tree: CallTree, selfs: Sequence[Values], widths: Values, about: dict[str, Any]) -> bytes:
    order, children = _level_order(tree, widths)
    names, name = with_frequent_names_first(tree.names, tree.name)
    encoding, unit, columns = _encoded_selfs([column[order] for column in selfs])
    sections = {
        "nch": uvarint(children),
        "name": uvarint(name[order]),
        **dict(zip(("self", "self2"), columns, strict=False)),
        "strings": "\0".join(names).encode(),
    }
    totals = dict(zip(("total", "total2"), (_total(tree, column) for column in selfs), strict=False))
    header = {
        "v": 2,
        "n": len(tree),
        "sections": [[section, len(data)] for section, data in sections.items()],
        "encoding": encoding,
        "unit": unit,
        **totals,
        **about,
    }
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False, default=str).encode()
    return b"".join([MAGIC, struct.pack("<I", len(text)), text, *sections.values()])


def _total(tree: CallTree, values: Values) -> float:
    """Whole numbers add up to the same in any order, fractions only in the tree's."""
    total: float = (tree.sum_up(values)[0] if values.dtype.kind == "f" else values.sum()).item()
    return total


def _level_order(tree: CallTree, widths: Values) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Nodes breadth first, the widest of siblings first, and the number of children of each in that order."""
    child_counts = np.bincount(tree.parent[1:], minlength=len(tree))
    rank = _rank_among_siblings(tree, widths, child_counts)
    first_child = np.zeros(len(tree), np.int64)  # its place within its level
    order = [tree.levels[0]]
    for level in tree.levels[1:]:
        above = order[-1]
        first_child[above] = np.cumsum(child_counts[above]) - child_counts[above]
        ordered = np.empty_like(level)
        ordered[first_child[tree.parent[level]] + rank[level]] = level
        order.append(ordered)
    nodes = np.concatenate(order).astype(np.int64)
    return nodes, child_counts[nodes]


def _rank_among_siblings(tree: CallTree, widths: Values, child_counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """0 for the widest; siblings of one width stay in preorder. Most nodes have no sibling and need no sorting."""
    rank = np.zeros(len(tree), np.int64)
    rivals = 1 + np.flatnonzero(child_counts[tree.parent[1:]] > 1)
    rivals = rivals[np.lexsort((-widths[rivals], tree.parent[rivals]))]
    place = np.arange(len(rivals))
    is_widest = np.diff(tree.parent[rivals], prepend=-1) != 0
    rank[rivals] = place - np.maximum.accumulate(np.where(is_widest, place, 0))
    return rank


def _encoded_selfs(selfs: Sequence[Values]) -> tuple[str, int, list[bytes]]:
    """Encoding, unit, and the bytes of each column; both sides of a difference are encoded alike."""
    if any(column.dtype.kind == "f" for column in selfs):
        return "float64", 1, [column.astype("<f8").tobytes() for column in selfs]
    # Sizes are multiples of the allocator's granularity: divided by it they take one byte less.
    unit = max(int(np.gcd.reduce(np.concatenate(selfs))), 1)
    if any((column < 0).any() for column in selfs):
        return "zigzag", unit, [uvarint(zigzag(column // unit)) for column in selfs]
    return "uvarint", unit, [uvarint(column // unit) for column in selfs]
