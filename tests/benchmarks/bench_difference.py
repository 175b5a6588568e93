"""The difference of two runs of a million nodes: stored trees to the payload that a page fetches, step by step."""

from __future__ import annotations

import gzip
import random
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).parent))

import bench_tree

from tracer.profile import tree
from tracer.profile.tree import payload

STACKS = 100_000  # a tree of some 980,000 nodes
OTHER_PATHS = 100  # one stack in so many is another one in the second run
ROUNDS = 5

T = TypeVar("T")


def second_run(text: bytes, other: bytes) -> bytes:
    """The same program again: other values everywhere, and some other paths."""
    made = random.Random(3)
    lines = [_again(line, made) for line in text.splitlines()]
    lines[::OTHER_PATHS] = other.splitlines()[::OTHER_PATHS]
    return b"\n".join(lines) + b"\n"


def _again(line: bytes, made: random.Random) -> bytes:
    stack, _, value = line.rpartition(b" ")
    return b"%s %d" % (stack, int(value) + 16 * made.randrange(8))


def steps(packed: tuple[bytes, bytes]) -> Iterator[tuple[str, float]]:
    """Name and processor seconds of each."""
    read_s, trees = bench_tree.timed(lambda: [tree.unpack(each) for each in packed])
    yield "unpack both", read_s
    merge_s, diff = bench_tree.timed(lambda: tree.merge(trees[0], trees[1], "value"))
    yield f"merge, {len(trees[0]):,} and {len(trees[1]):,} nodes to {len(diff.tree):,}", merge_s
    yield "overview", bench_tree.timed(lambda: gzip.compress(payload.encode_diff(diff, overview=True).data, 6))[0]
    encode_s, data = bench_tree.timed(lambda: payload.encode_diff(diff, overview=False).data)
    yield "all of it", encode_s
    gzip_s, sent = bench_tree.timed(lambda: gzip.compress(data, 6))
    yield f"gzip to {len(sent) / 1e6:.2f} MB", gzip_s


def stored(text: bytes) -> bytes:
    return tree.pack(tree.build(bench_tree.read(text)))


def main() -> None:
    bench_tree.STACKS = STACKS
    texts = bench_tree.folded_text(1), bench_tree.folded_text(2)
    packed = stored(texts[0]), stored(second_run(*texts))
    rounds = [list(steps(packed)) for _ in range(ROUNDS)]
    for step in zip(*rounds, strict=True):
        print(f"{step[0][0]:60} {statistics.median(seconds for _, seconds in step):6.2f} s")
    best = min(sum(seconds for _, seconds in each) for each in rounds)
    print(f"{f'all together, the best of {ROUNDS}; aim 1.5 s':60} {best:6.2f} s")


if __name__ == "__main__":
    main()
