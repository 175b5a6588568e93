"""`perf script` text to stored stacks, against inferno and stackcollapse-perf.pl on the same file, each on one core."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import inputs
from tests.benchmarks.measured import Cost, command, compare, job, run_job
from tracer import protocol
from tracer.profile.formats import read_profile

SIZE = int(os.environ.get("MEMFLAME_BENCH_BYTES", 200_000_000))
SHARES = {"hard, 30 % of stacks unique": 0.3, "usual, 7 % unique": 0.07}
ROUNDS = 3
_BYTES_A_SAMPLE = 3200
_PERF = '#!/bin/sh\nexec cat "$MEMFLAME_INPUT"\n'  # what inferno's program calls to get the text
_POST = "#!/bin/sh\ncat > /dev/null\necho 'all 1'\n"  # so that it draws next to nothing


def ours(path: str) -> None:
    with Path(path).open("rb") as stream:
        print(read_profile(stream, resolve=protocol.value_type_named).stack_count)


def inferno(path: Path, folder: Path) -> Cost | None:
    """Its program `flamegraph`, which has it read the output of a perf that we give it."""
    program = shutil.which("flamegraph")
    if program is None:
        return None
    for name, text in {"perf": _PERF, "post": _POST}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    environment = {"PERF": str(folder / "perf"), "MEMFLAME_INPUT": str(path), "PATH": f"{folder}:{os.environ['PATH']}"}
    post = str(folder / "post")
    return command([program, "--perfdata", path, "-o", folder / "out.svg", "--post-process", post], environment)


def stackcollapse(path: Path) -> Cost | None:
    script = Path(os.environ.get("FLAMEGRAPH_DIR", "/nonexistent")) / "stackcollapse-perf.pl"
    return command(["perl", script, path]) if script.exists() else None


def line_by_line(path: str) -> None:
    """How stackcollapse-perf.pl goes about it, where that is not at hand: each line is looked at by itself."""
    frame, head = re.compile(r"\s*(\w+)\s*(.+) \((\S*)\)"), re.compile(r"(\S.+?)\s+(\d+)/*(\d+)*\s+")
    counts: Counter[str] = Counter()
    names: list[str] = []
    with Path(path).open() as lines:
        for line in lines:
            if found := frame.match(line):
                names.append(re.sub(r"\+0x[\da-f]+$", "", found[2]))
            elif found := head.match(line):
                names = []
            elif names and not line.strip():
                counts[";".join(["server", *reversed(names)])] += 1
    print(len(counts))


def peers(path: Path, folder: Path) -> Iterator[tuple[str, Cost | None]]:
    yield "inferno", inferno(path, folder)
    yield "stackcollapse-perf.pl", stackcollapse(path)
    yield "line by line in Python", job(__file__, "line_by_line", path)


def make(path: str, share: str) -> None:
    inputs.write(Path(path), SIZE, inputs.perf_script(float(share), SIZE // _BYTES_A_SAMPLE))


def main() -> None:
    print(f"{SIZE / 1e6:.0f} MB; ratio above 1: ours is faster; processor time of whole processes, best of {ROUNDS}")
    for what, share in SHARES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "perf.txt"
            job(__file__, "make", path, str(share))
            report(what, path, Path(folder))


def report(what: str, path: Path, folder: Path) -> None:
    costs = [{"ours": job(__file__, "ours", path), **dict(peers(path, folder))} for _ in range(ROUNDS)]
    best = {name: min(found for cost in costs if (found := cost[name])) for name in costs[0] if costs[0][name]}
    for name in [name for name in costs[0] if name != "ours"]:
        if name in best:
            compare(what, best["ours"], best[name], name, path.stat().st_size)
        else:
            print(f"{what:32} {name} is not there")


if __name__ == "__main__":
    run_job({"ours": ours, "line_by_line": line_by_line, "make": make}, main)
