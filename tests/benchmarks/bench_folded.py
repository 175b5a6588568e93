"""Folded text to a call tree against nested dictionaries, in time and memory; and the stored form against gzip's."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks import inputs
from tests.benchmarks.measured import compare, job, run_job
from tracer import protocol
from tracer.profile import tree
from tracer.profile.export.pprof import write_pprof
from tracer.profile.folded import read_folded
from tracer.profile.formats import read_profile
from tracer.profile.model import Limits

STACKS = int(os.environ.get("MEMFLAME_BENCH_STACKS", 130_000))  # a tree of about a million nodes
ROUNDS = 3
LIMITS = Limits(tree_nodes=100_000_000)


def make(path: str, order: str) -> None:
    lines = [inputs.folded(stack, 16 + number % 4093 * 16) for number, stack in enumerate(inputs.stacks(STACKS))]
    with Path(path).open("w") as file:
        file.writelines(sorted(lines) if order == "sorted" else lines)


def ours(path: str) -> None:
    with Path(path).open("rb") as stream:
        print(len(tree.build(read_profile(stream, resolve=protocol.value_type_named, limits=LIMITS), LIMITS)))


def trie(path: str) -> None:
    """The obvious way: nested dictionaries, a total at each node."""
    root: list[Any] = [0, {}]
    nodes = 1
    with Path(path).open("rb") as lines:
        for line in lines:
            stack, _, value = line.rpartition(b" ")
            node, amount = root, int(value)
            node[0] += amount
            for frame in stack.split(b";"):
                child = node[1].get(frame)
                if child is None:
                    child = node[1][frame] = [0, {}]
                    nodes += 1
                child[0] += amount
                node = child
    print(nodes)


def stored(path: str) -> None:
    text = Path(path).read_bytes()
    profile = read_folded(text.splitlines(), resolve=protocol.value_type_named, limits=LIMITS)
    built = tree.build(profile, LIMITS)
    pprof = io.BytesIO()
    write_pprof(profile, pprof)
    print(len(built), len(tree.pack(built)), len(gzip.compress(text, 6)), len(pprof.getvalue()))


def main() -> None:
    print(f"ratio above 1: ours is faster; processor time of whole processes, best of {ROUNDS}")
    for order in ("sorted", "in no order"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "folded.txt"
            job(__file__, "make", path, order)
            print(f"{STACKS:,} stacks {order}, {path.stat().st_size / 1e6:.0f} MB")
            report(path)


def report(path: Path) -> None:
    costs = [(job(__file__, "ours", path), job(__file__, "trie", path)) for _ in range(ROUNDS)]
    ours_best, trie_best = (min(found) for found in zip(*costs, strict=True))
    assert ours_best.output == trie_best.output
    compare("text to call tree", ours_best, trie_best, "dictionaries", path.stat().st_size)
    print(f"{'memory of that of dictionaries':32} {ours_best.peak_mb / trie_best.peak_mb:.2f}")
    nodes, ours_bytes, folded_bytes, pprof_bytes = map(int, job(__file__, "stored", path).output.split())
    print(f"{nodes:,} nodes stored in {ours_bytes / 1e6:.2f} MB")
    print(f"{'gzipped folded text':32} {folded_bytes / 1e6:.2f} MB, {folded_bytes / ours_bytes:.1f} times as much")
    print(f"{'gzipped pprof':32} {pprof_bytes / 1e6:.2f} MB, {pprof_bytes / ours_bytes:.1f} times as much", flush=True)


if __name__ == "__main__":
    run_job({"make": make, "ours": ours, "trie": trie, "stored": stored}, main)
