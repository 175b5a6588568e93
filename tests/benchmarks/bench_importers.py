"""How fast each importer reads a large file of its format, and how much memory it takes for it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.benchmarks import inputs, more_inputs
from tests.benchmarks.measured import job, run_job
from tracer import protocol
from tracer.profile.formats import read_profile
from tracer.profile.model import Limits

SIZE = int(os.environ.get("MEMFLAME_BENCH_BYTES", 200_000_000))
# The limits are for what a site lets in; here the file is ours.
LIMITS = Limits(lines=1 << 40, inflated_bytes=1 << 40, tree_nodes=1 << 30, frames=1 << 40)
_BYTES_A_STACK = {"speedscope": 175, "dhat": 290}
_BLOCK, _KNOWN_LINES = 1 << 18, 500_000
Parts = Callable[[], Iterator[str] | Iterator[bytes]]


def _stacks(text: inputs.Text) -> Parts:
    return partial(inputs.each_once, text, inputs.HEADS.get(text.__name__, ""), inputs.TAILS.get(text.__name__, ""))


_TEXTS = (
    inputs.folded, inputs.stackcount, inputs.memleak, inputs.dtrace, inputs.bpftrace, inputs.bpftrace_json,
    inputs.memcheck, inputs.sanitizer, inputs.jemalloc, inputs.gperftools,
)  # fmt: skip
INPUTS: dict[str, Parts] = {
    **{text.__name__: _stacks(text) for text in _TEXTS},
    "mtrace": more_inputs.mtrace,
    "heaptrack": more_inputs.heaptrack,
    "massif": partial(more_inputs.massif, SIZE),
    "pprof": more_inputs.pprof,
    "speedscope": partial(more_inputs.speedscope, SIZE // _BYTES_A_STACK["speedscope"]),
    "dhat": partial(more_inputs.dhat, SIZE // _BYTES_A_STACK["dhat"]),
}
_WHOLE = ("speedscope", "dhat", "massif")  # as large as they come out, since half of one is none


def make(path: str, name: str) -> None:
    inputs.write(Path(path), sys.maxsize if name in _WHOLE else SIZE, INPUTS[name]())


def read(path: str) -> None:
    with Path(path).open("rb") as stream:
        profile = read_profile(stream, resolve=protocol.value_type_named, limits=LIMITS)
    print(f"{profile.stack_count:,} stacks, {profile.skipped_lines} lines skipped")


def look_up(path: str) -> None:
    """The least that a reader in Python does: split, and look each line up. Tells how busy the machine is."""
    known: dict[str, int] = {}
    with Path(path).open("rb") as stream:
        while block := stream.read(_BLOCK):
            for line in block.decode("utf-8", "replace").split("\n"):
                if line not in known and len(known) < _KNOWN_LINES:
                    known[line] = len(known)


def start() -> None:
    """What a process takes that reads nothing."""


def main() -> None:
    nothing = min(job(__file__, "start") for _ in range(3))
    print(f"{SIZE / 1e6:.0f} MB each; speed is without the start of the process, {nothing.cpu_s:.2f} s")
    for name in INPUTS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            job(__file__, "make", path, name)
            cost, least = job(__file__, "read", path), job(__file__, "look_up", path)
            size = path.stat().st_size / 1e6
            speed, yardstick = (size / (each.cpu_s - nothing.cpu_s) for each in (cost, least))
            speeds = f"{speed:6.1f} MB/s   lines looked up {yardstick:6.1f} MB/s"
            print(f"{name:14} {speeds}   {cost.peak_mb:6.0f} MB   {cost.output.strip()}", flush=True)


if __name__ == "__main__":
    run_job({"make": make, "read": read, "look_up": look_up, "start": start}, main)
