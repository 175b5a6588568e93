"""A program of ours in the forms that teams have it, and a heap profile of it as jemalloc writes one."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import webapp.runs.renaming  # noqa: F401 - registers the task
from webapp.runs.models import Run

SOURCE = """
#include <cstdlib>
namespace store {
static void use(void *p) { __asm__ volatile("" : : "r"(p)); }
inline __attribute__((always_inline)) void *take(int n) { void *p = malloc(n); use(p); return p; }
__attribute__((noinline)) void *load(int n) { void *p = take(n); use(p); return p; }
}
int main() { for (int i = 0; i < 3; i++) store::load(i); return 0; }
"""


@dataclass(frozen=True, slots=True)
class Program:
    """`load` and `main` are file offsets inside of calls, as a heap profile's stack has them."""

    whole: Path
    stripped: Path
    debug: Path
    build_id: str
    load: int
    main: int


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("program")
    whole, stripped, debug = folder / "shop", folder / "shop.stripped", folder / "shop.debug"
    _run("g++", "-g", "-O1", "-Wl,--build-id", "-x", "c++", "-o", whole, "-", text=SOURCE)
    _run("objcopy", "--only-keep-debug", whole, debug)
    _run("strip", "-o", stripped, whole)
    build_id = _run("readelf", "-n", whole).split("Build ID: ")[1].split()[0]
    code = _run("objdump", "-d", "--no-show-raw-insn", whole)
    return Program(whole, stripped, debug, build_id, _call_in(code, "_ZN5store4loadEi"), _call_in(code, "main"))


def _run(*command: object, text: str = "") -> str:
    return subprocess.run(
        [str(word) for word in command], input=text, check=True, capture_output=True, text=True
    ).stdout


def _call_in(code: str, function: str) -> int:
    """Of the first call in it; the linker puts code at the address that is its offset."""
    body = code.split(f"<{function}>:\n")[1]
    line = next(line for line in body.splitlines() if "call" in line)
    return int(line.split(":")[0], 16) + 1


def folded(program: Program, *, build_id: str | None, module: str = "shop") -> bytes:
    """As our collectors write it; without a build id as any other tool does."""
    stack = f"{module}+{program.main:#x};{module}+{program.load:#x};malloc 4096\nother;malloc 96\n"
    if build_id is None:
        return stack.encode()
    capture = f'{{"collector": "malloc", "events": 2, "build_ids": {{"{module}": "{build_id}"}}}}'
    return f"# memflame-folded 1\n# values: outstanding_bytes\n# capture: {capture}\n{stack}".encode()


def heap(program: Program) -> bytes:
    """jemalloc's: addresses and mapped files."""
    base = 0x560000000000
    leaf, caller = base + program.load, base + program.main + 1
    return (
        "heap_v2/524288\n  t*: 1: 524288 [0: 0]\n"
        f"@ {leaf:#x} {caller:#x}\n  t*: 1: 524288 [0: 0]\n\nMAPPED_LIBRARIES:\n"
        f"{base:x}-{base + 0x1000:x} r--p 00000000 08:02 17 /srv/shop\n"
        f"{base + 0x1000:x}-{base + 0x2000:x} r-xp 00001000 08:02 17 /srv/shop\n"
    ).encode()


@pytest.fixture
def folded_of() -> Callable[..., bytes]:
    return folded


@pytest.fixture
def heap_of() -> Callable[[Program], bytes]:
    return heap


@pytest.fixture
def stacks_of() -> Callable[[Run], dict[str, Any]]:
    """Of the tree that the run's page is made of: values of the first value type by stack."""
    from webapp.flamegraph.exports import load_tree

    def stacks(run: Run) -> dict[str, Any]:
        snapshot = run.snapshots.get(seq=1)
        return {";".join(stack): values[0] for stack, values in load_tree(snapshot).rows()}

    return stacks
