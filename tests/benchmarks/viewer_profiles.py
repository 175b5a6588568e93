"""Call trees of any size, made up the same each time, in the forms in which viewers want them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from tracer.profile.model import ValueType
from tracer.profile.tree import CallTree
from tracer.profile.tree.calltree import with_frequent_names_first

DEEPEST = 120
OLDER_FIRST = 1.6  # how much more often old frames are called again than new ones
HEAVY_TAIL = 1.05
_SPACES = [
    "std",
    "boost::asio::detail",
    "tokio::runtime::task",
    "com.acme.billing",
    "org.apache.spark.sql",
    "数据::缓冲区",
    "кэш",
]
_TYPES = ["HashMap<K, V>", "Vec<u8>", "basic_string<char const*>", "RawTable<&'static str>", "Promise<T&>", "Café"]
_VERBS = ["allocate", "reserve_rehash", "push_back", "operator<<", "poll", "<init>", "lambda$run$0", 'quote"d & 🔥']


def call_tree(nodes: int) -> CallTree:
    """Exactly so many frames below the root, the deepest DEEPEST deep."""
    made = random.Random(20240607)
    names = _names(made, max(60, min(60_000, int(nodes**0.78))))
    parent, name, depth = _grown(made, nodes, len(names))
    children: list[list[int]] = [[] for _ in range(nodes + 1)]
    for node in range(1, nodes + 1):
        children[parent[node]].append(node)
    order = np.array(list(_preorder(children)))
    selfs = np.array([_weight(made) if not below or made.random() < 0.18 else 0 for below in children])
    selfs[0] = 0
    kept, ids = with_frequent_names_first(names, np.array(name, np.int32)[order])
    value_type = ValueType("outstanding_bytes", "bytes", "level", "Memory that was still allocated")
    return CallTree((value_type,), kept, ids, np.array(depth, np.int32)[order], (selfs[order].astype(np.int64),))


def _names(made: random.Random, count: int) -> list[str]:
    return [
        f"{made.choice(_SPACES)}::{made.choice(_TYPES)}::{made.choice(_VERBS)}_{number:x}({made.choice(_TYPES)})"
        for number in range(count)
    ]


def _grown(made: random.Random, nodes: int, names: int) -> tuple[list[int], list[int], list[int]]:
    """Parent, name and depth: stacks branch off somewhere in older ones, and the last goes down as far as any may."""
    parent, name, depth, known = [0], [0], [0], {(0, 0)}
    at = 0
    while len(parent) <= nodes:
        left = nodes + 1 - len(parent)
        if left == DEEPEST:
            at = 0
        elif left > DEEPEST and (depth[at] >= DEEPEST or made.random() < 0.3):
            at = 0 if made.random() < 0.12 else int(len(parent) * made.random() ** OLDER_FIRST)
            if depth[at] >= DEEPEST:
                at = parent[at]
        own = int(names * made.random() ** 2.6)
        if (at, own) in known or depth[at] >= DEEPEST:
            continue
        known.add((at, own))
        parent.append(at)
        name.append(own)
        depth.append(depth[at] + 1)
        at = len(parent) - 1
    return parent, name, depth


def _weight(made: random.Random) -> int:
    return 16 + 16 * int(min(made.random() ** (-1 / HEAVY_TAIL), 3e6))


def _preorder(children: list[list[int]]) -> Iterator[int]:
    waiting = [0]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children[node]))


def nested_set(tree: CallTree) -> dict[str, Any]:
    """Columns in preorder, as Grafana's data frames have them."""
    return {
        "level": tree.depth.tolist(),
        "value": tree.totals(0).tolist(),
        "self": tree.selfs[0].tolist(),
        "label": tree.name.tolist(),
        "names": list(tree.names),
    }


def nested(tree: CallTree) -> dict[str, Any]:
    """Objects in objects, as d3-flame-graph has them."""
    root: dict[str, Any] = {"name": "all", "value": 0, "children": []}
    path = [root]
    columns = zip(tree.depth.tolist(), tree.name.tolist(), tree.totals(0).tolist(), strict=True)
    for depth, name, value in columns:
        if depth == 0:
            root["value"] = value
            continue
        node = {"name": tree.names[name], "value": value, "children": []}
        path[depth - 1]["children"].append(node)
        path[depth:] = [node]
    return root


def timed(tree: CallTree) -> dict[str, Any]:
    """The same with the byte at which each begins, as charts of times have them."""
    root: dict[str, Any] = {"name": "all", "start": 0, "duration": 0, "children": []}
    path, ends = [root], [0]
    columns = zip(tree.depth.tolist(), tree.name.tolist(), tree.totals(0).tolist(), strict=True)
    for depth, name, value in columns:
        if depth == 0:
            root["duration"] = value
            continue
        start = ends[depth - 1]  # where the sibling before ends, or the caller begins
        node = {"name": tree.names[name], "start": start, "duration": value, "children": []}
        path[depth - 1]["children"].append(node)
        path[depth:], ends[depth - 1 :] = [node], [start + value, start]
    return root


def folded(tree: CallTree) -> Iterator[str]:
    """Lines, as flamegraph.pl and speedscope read them."""
    for stack, (value,) in tree.rows():
        yield f"{';'.join(stack)} {value}\n"
