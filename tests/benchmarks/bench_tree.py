"""Ratios of the profile library against plain Python, in the same run: build, payload, stored form, difference."""

from __future__ import annotations

import gzip
import io
import json
import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

from tracer import protocol
from tracer.profile import tree
from tracer.profile.folded import read_folded
from tracer.profile.model import Profile
from tracer.profile.tree import payload

STACKS = 60_000
FUNCTIONS = 20_000

T = TypeVar("T")
Node = list[Any]  # [value, children by name]


def folded_text(seed: int) -> bytes:
    """Sorted stacks of 30 to 50 frames with names as C++, Java and Rust have them; a tree of some 600,000 nodes."""
    made = random.Random(1)
    heads, tails = ["std::vector<", "tokio::runtime::", "com.acme.search.", ""], ["", "<T>", "(int, char const*)"]
    names = [f"{made.choice(heads)}function_{n}{made.choice(tails)}" for n in range(FUNCTIONS)]
    chosen, lines = random.Random(seed), []
    for _ in range(STACKS):
        stack, place = ["main"], 0
        for depth in range(chosen.randint(30, 50)):
            branch = int(chosen.paretovariate(1.2)) if chosen.random() < 0.12 else 1
            place = (place * 31 + branch + depth) % FUNCTIONS
            stack.append(names[place])
        lines.append(f"{';'.join(stack)} {16 * int(chosen.paretovariate(0.9))}")
    return "\n".join(sorted(lines)).encode() + b"\n"


def trie(text: bytes) -> Node:
    """The obvious way: nested dicts, a total at each node."""
    root: Node = [0, {}]
    for line in text.splitlines():
        stack, _, value = line.rpartition(b" ")
        node, amount = root, int(value)
        node[0] += amount
        for frame in stack.split(b";"):
            child = node[1].get(frame)
            if child is None:
                child = node[1][frame] = [0, {}]
            child[0] += amount
            node = child
    return root


def nested(root: Node) -> dict[str, Any]:
    """What d3-flame-graph takes."""
    top: dict[str, Any] = {"name": "all", "value": root[0], "children": []}
    left = [(root, top)]
    while left:
        node, shown = left.pop()
        for frame, child in node[1].items():
            below = {"name": frame.decode(), "value": child[0], "children": []}
            shown["children"].append(below)
            left.append((child, below))
    return top


def merged(before: Node, after: Node) -> dict[tuple[int, bytes], list[int]]:
    """Union of two tries, level by level, both totals."""
    union: dict[tuple[int, bytes], list[int]] = {}
    left, number = [(0, before, after)], 0
    none: Node = [0, {}]
    while left:
        place, old, new = left.pop()
        for frame in old[1].keys() | new[1].keys():
            below = old[1].get(frame, none), new[1].get(frame, none)
            union[place, frame] = [below[0][0], below[1][0]]
            number += 1
            left.append((number, *below))
    return union


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds, since other work on the machine is not our business."""
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def read(text: bytes) -> Profile:
    return read_folded(io.BytesIO(text), resolve=protocol.value_type_named)


def report(what: str, ours: float, other: float, unit: str, than: str) -> None:
    print(f"{what:34} {ours:10.2f} {unit:4} {than} {other:10.2f} {unit:4} ratio {other / ours:5.1f}")


def main() -> None:
    texts = folded_text(1), folded_text(2)
    trie_s, tries = timed(lambda: [trie(text) for text in texts])
    read_s, profiles = timed(lambda: [read(text) for text in texts])
    build_s, trees = timed(lambda: [tree.build(profile) for profile in profiles])
    print(f"{STACKS:,} stacks, {len(texts[0]) / 1e6:.0f} MB, {len(trees[0]):,} nodes; ratio above 1: ours is better")
    report("text to tree", read_s + build_s, trie_s, "s", "dict trie")
    total_s, _ = timed(lambda: trees[0].totals(0))
    report("all totals of a built tree", total_s * 1000, trie_s * 500, "ms", "dict trie")

    packed_s, packed = timed(lambda: tree.pack(trees[0]))
    report("stored form", len(packed) / 1e6, len(gzip.compress(texts[0], 6)) / 1e6, "MB", "gzip folded")
    unpacked_s, _ = timed(lambda: tree.unpack(packed))
    print(f"{'':34} packed in {packed_s * 1000:.0f} ms, unpacked in {unpacked_s * 1000:.0f} ms")

    encode_s, full = timed(lambda: payload.encode(trees[0], 0, overview=False).data)
    json_s, nested_json = timed(lambda: json.dumps(nested(tries[0])).encode())
    report("payload, time", encode_s * 1000, json_s * 1000, "ms", "nested JSON")
    sizes = [len(gzip.compress(data, 6)) / 1e6 for data in (full, nested_json)]
    report("payload, gzip", sizes[0], sizes[1], "MB", "nested JSON")
    first = gzip.compress(payload.encode(trees[0], 0, overview=True).data, 6)
    report("overview, gzip", len(first) / 1e6, sizes[1], "MB", "nested JSON")

    merge_s, diff = timed(lambda: tree.merge(trees[0], trees[1], "value"))
    union_s, union = timed(lambda: merged(tries[0], tries[1]))
    assert len(diff.tree) == len(union) + 1
    report("difference of two trees", merge_s * 1000, union_s * 1000, "ms", "dict merge")


if __name__ == "__main__":
    main()
