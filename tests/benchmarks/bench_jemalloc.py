"""A jemalloc dump of 10,000 addresses to a stored tree with names, against jeprof: cold, with names kept, and again."""

from __future__ import annotations

import random
import re
import resource
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.benchmarks.measured import command, job, run_job
from tracer import protocol
from tracer.profile import tree
from tracer.profile.export.folded import write_one_column
from tracer.profile.formats import read_profile
from tracer.profile.model import Profile
from tracer.symbols.frames import with_names
from tracer.symbols.store import NameStore
from tracer.symbols.symbolizer import Binary, Symbolizer

UNITS, FUNCTIONS = 40, 60  # source files, and functions of each
ADDRESSES, DEPTH = 10_000, 23
ROUNDS = 3
_BASE = 0x555555554000
_CALL = re.compile(r"^\s+([0-9a-f]+):\s+call", re.MULTILINE)
_NEXT = re.compile(r"^\s+([0-9a-f]+):\s+\S+", re.MULTILINE)
_LOAD = re.compile(r"LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E")
_HEADER = """
template <typename T> struct Box { T held; __attribute__((always_inline)) T grown(T by) { return held + by * 3; } };
template <int N, typename T> __attribute__((noinline)) T scaled(T value) {
  Box<T> box{value}; __asm__ volatile(""); return box.grown(N);
}
"""


# --- the program and its dump -----------------------------------------------------------------------------------------


def build(folder: str) -> None:
    """Of many source files, with templates, inlined functions and debug information."""
    place = Path(folder)
    for unit in range(UNITS):
        (place / f"unit{unit}.cc").write_text(_HEADER + "".join(_function(unit, n) for n in range(FUNCTIONS)))
        source = place / f"unit{unit}.cc"
        subprocess.run(["g++", "-O1", "-g", "-c", "-o", source.with_suffix(".o"), source], check=True)
    objects = [place / f"unit{unit}.o" for unit in range(UNITS)]
    (place / "main.cc").write_text("int main() { return 0; }\n")
    subprocess.run(["g++", "-g", "-o", place / "server", place / "main.cc", *objects], check=True)
    (place / "dump.heap").write_text("".join(_dump(place / "server")))


def _function(unit: int, number: int) -> str:
    kinds = ["int", "long", "unsigned", "short"]
    calls = "".join(f"  sum += scaled<{unit * 7 + n}, {kinds[n % 4]}>(sum);\n" for n in range(number % 5 + 4))
    return f"namespace unit{unit} {{ long load_{number}(long sum, char const*) {{\n{calls}  return sum; }} }}\n"


def _return_addresses(program: Path) -> list[int]:
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "-j", ".text", program], capture_output=True, text=True, check=True
    ).stdout
    return [int(found[1], 16) for call in _CALL.finditer(text) if (found := _NEXT.search(text, call.end()))]


def _dump(program: Path) -> Iterator[str]:
    made = random.Random(1)
    addresses = sorted(set(_return_addresses(program)))
    left = made.sample(addresses, min(ADDRESSES, len(addresses)))
    chosen = list(left)
    yield "heap_v2/524288\n  t*: 1: 4096 [0: 0]\n"
    while left:
        own = [left.pop() for _ in range(min(3, len(left)))]
        stack = [*own, *made.choices(chosen, k=DEPTH - len(own))]
        count = made.randint(1, 50)
        yield f"@ {' '.join(f'{_BASE + address:#x}' for address in stack)}\n"
        yield f"  t*: {count}: {count * made.choice([16, 512, 65536])} [0: 0]\n"
    headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    offset, address, size = (int(text, 16) for text in _LOAD.findall(headers)[0])
    start, end = _BASE + address & ~4095, (_BASE + address + size + 4095) & ~4095
    yield f"\nMAPPED_LIBRARIES:\n{start:x}-{end:x} r-xp {offset & ~4095:08x} fe:00 1234    {program}\n"


# --- what is measured -------------------------------------------------------------------------------------------------


def named(folder: Path, symbolizer: Symbolizer) -> Profile:
    with (folder / "dump.heap").open("rb") as stream, (folder / "server").open("rb") as program:
        profile = read_profile(stream, resolve=protocol.value_type_named)
        return with_names(profile, {"server": Binary(program.fileno(), str(folder / "server"))}, symbolizer)


def once(folder: str, store: str) -> None:
    """As a command does it that is started for one dump."""
    print(len(tree.pack(tree.build(named(Path(folder), Symbolizer(NameStore(Path(store))))))))


def again(folder: str, store: str) -> None:
    """As an agent does it that pulls dump after dump of one program: processor seconds of a further one."""
    symbolizer = Symbolizer(NameStore(Path(store)))
    spent = []
    for _ in range(ROUNDS + 1):
        before = _cpu_s()
        tree.pack(tree.build(named(Path(folder), symbolizer)))
        spent.append(_cpu_s() - before)
    print(min(spent[1:]))


def folded(folder: str, store: str, out: str) -> None:
    with Path(out).open("w") as file:
        write_one_column(named(Path(folder), Symbolizer(NameStore(Path(store)))), 0, file)


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(found.ru_utime + found.ru_stime for found in used)


# --- names ------------------------------------------------------------------------------------------------------------


def frames(lines: Iterable[str]) -> Counter[str]:
    """How often each name occurs, without what jeprof adds to it: marks of inlined and cloned functions, addresses."""
    counts: Counter[str] = Counter()
    for line in lines:
        stack = line.rpartition(" ")[0]
        counts.update(re.sub(r"\[inline\]|<[0-9a-f]{16}>| \[clone [^\]]*\]", "", name) for name in stack.split(";"))
    return counts


def causes(only_jeprof: Counter[str], only_ours: Counter[str]) -> Counter[str]:
    short = {name.partition("(")[0] for name in only_ours}
    found: Counter[str] = Counter()
    for name, count in only_jeprof.items():
        if re.fullmatch(r"0x[0-9a-f]+|\?\?.*", name):
            found["jeprof has no name"] += count
        elif name.partition("(")[0] in short:
            found["the same function, its parameters written otherwise"] += count
        else:
            found["another function: inlined at the edge of a range, or a symbol's name"] += count
    return found


def compare_names(jeprof: str, ours: str) -> None:
    theirs, own = frames(jeprof.splitlines()), frames(ours.splitlines())
    equal = sum((theirs & own).values())
    print(f"{equal / theirs.total():.1%} of {theirs.total():,} frames are named as jeprof names them; of the others")
    for cause, count in causes(theirs - own, own - theirs).most_common():
        print(f"  {count / theirs.total():7.2%}  {cause}")


def main() -> None:
    jeprof = shutil.which("jeprof")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        job(__file__, "build", place)
        size = (place / "server").stat().st_size
        print(f"{ADDRESSES:,} addresses of a program of {size / 1e6:.0f} MB; processor time, best of {ROUNDS}")
        cold = min(job(__file__, "once", place, place / f"store{number}") for number in range(ROUNDS))
        kept = min(job(__file__, "once", place, place / "store0") for _ in range(ROUNDS))
        further_s = float(job(__file__, "again", place, place / "store0").output)
        kept_s = f"names kept on disk {kept.cpu_s:.2f} s"
        print(f"ours: all cold {cold.cpu_s:.2f} s, {kept_s}, a further dump {further_s:.3f} s")
        if jeprof is None:
            print("jeprof is not there")
            return
        theirs = min(command([jeprof, "--collapsed", place / "server", place / "dump.heap"]) for _ in range(ROUNDS))
        print(f"jeprof {theirs.cpu_s:.2f} s; ratio above 1: ours is faster")
        for what, spent_s in {"all cold": cold.cpu_s, "names kept": kept.cpu_s, "a further dump": further_s}.items():
            print(f"{what:32} ratio {theirs.cpu_s / spent_s:6.1f}")
        job(__file__, "folded", place, place / "store0", place / "ours.folded")
        compare_names(theirs.output, (place / "ours.folded").read_text())


if __name__ == "__main__":
    run_job({"build": build, "once": once, "again": again, "folded": folded}, main)
