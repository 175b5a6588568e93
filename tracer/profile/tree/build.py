"""A profile to its call tree: stacks sorted, each then adds the nodes in which it differs from the one before."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from tracer.profile.errors import LimitExceeded
from tracer.profile.model import Limits, Profile
from tracer.profile.tree.calltree import CallTree, Ids, Values, with_frequent_names_first

FRAMES_A_STEP = 1 << 20  # the temporary columns of a step take about 40 bytes a frame


def build(profile: Profile, limits: Limits | None = None) -> CallTree:
    """Merge stacks by common prefix; no stack gives a root alone. Raises LimitExceeded at too many nodes."""
    # Keys are frame ids as bytes: sorted as bytes, stacks with a common prefix stand together, the prefix first.
    keys = sorted(profile.row_by_key)
    names, depths, leaves, nodes = [np.zeros(1, np.int32)], [np.zeros(1, np.int32)], [np.zeros(0, np.int32)], 1
    for before, step in _steps(keys):
        name, depth, leaf = _new_nodes(before, step)
        names.append(name)
        depths.append(depth)
        leaves.append(leaf + nodes)
        nodes += len(name)
        _check(nodes, limits or Limits())
    shown, name = with_frequent_names_first(profile.names, np.concatenate(names))
    rows = np.fromiter(map(profile.row_by_key.__getitem__, keys), np.int64, len(keys))
    selfs = tuple(_selfs(column, rows, np.concatenate(leaves), nodes) for column in profile.columns)
    return CallTree(profile.value_types, shown, name, np.concatenate(depths), selfs, dict(profile.capture))


def _check(nodes: int, limits: Limits) -> None:
    if nodes > limits.tree_nodes:
        raise LimitExceeded(
            "number of call tree nodes", limit=limits.tree_nodes, value=limits.tree_nodes, at_least=True
        )


def _steps(keys: list[bytes]) -> Iterator[tuple[bytes, list[bytes]]]:
    """Runs of keys of about FRAMES_A_STEP frames, each with the key before it."""
    before, step, size = b"", list[bytes](), 0
    for key in keys:
        step.append(key)
        size += len(key)
        if size >= 4 * FRAMES_A_STEP:
            yield before, step
            before, step, size = key, [], 0
    if step:
        yield before, step


def _new_nodes(before: bytes, keys: list[bytes]) -> tuple[Ids, Ids, Ids]:
    """Name and depth of the nodes that these stacks add, and which of them is each stack's last frame."""
    frames = np.frombuffer(b"".join([before, *keys]), np.intc)
    length = np.array([len(before), *map(len, keys)], np.int64) // 4
    own = slice(length[0], None)  # without the stack before, whose nodes exist
    start = np.cumsum(length) - length
    depth = np.arange(len(frames)) - np.repeat(start, length)
    length_before = np.concatenate(([0], length[:-1]))
    same_place = np.arange(len(frames)) - np.repeat(length_before, length)  # same depth in the stack before
    differs = (depth >= np.repeat(length_before, length)) | (frames != frames[same_place])
    # A frame is a new node if it or any frame above it in its stack differs.
    differing = np.cumsum(differs)
    differing_above = differing[start[1:]] - differs[start[1:]]
    is_new = differing[own] > np.repeat(differing_above, length[1:])
    leaf = np.cumsum(is_new)[np.cumsum(length[1:]) - 1] - 1
    return frames[own][is_new].astype(np.int32), (depth[own][is_new] + 1).astype(np.int32), leaf.astype(np.int32)


def _selfs(column: array[Any], rows: Values, leaves: Ids, nodes: int) -> Values:
    values = np.frombuffer(column, np.float64 if column.typecode == "d" else np.int64)
    selfs = np.zeros(nodes, values.dtype)
    selfs[leaves] = values[rows]  # stacks are distinct, so no node gets two
    return selfs
