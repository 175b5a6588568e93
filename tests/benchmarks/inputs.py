"""Files of any size in the formats that memflame reads, made up the same each time: one program's stacks in all."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

FUNCTIONS = 20_000
MEAN_DEPTH = 40
Place = tuple[int, int]  # function, and which of its call sites
Stack = tuple[Place, ...]  # root first
Text = Callable[[Stack, int], str]  # a stack and its value

_SPACES = ["std", "boost", "search::index", "net", "tokio::runtime", "com.acme.query", "org.apache.lucene"]
_VERBS = ["insert", "push_back", "run", "dispatch", "poll", "decode", "lookup", "merge", "flush", "parse", "resize"]


def function_names() -> list[str]:
    """As C, C++, Java and Rust have them."""
    made = random.Random(1)
    shapes = [
        lambda n: f"{made.choice(_SPACES)}::{made.choice(_VERBS)}_{n}",
        lambda n: (
            f"{made.choice(_SPACES)}::vector<T{n % 97}, std::allocator<T{n % 97}> >::{made.choice(_VERBS)}_{n}(int)"
        ),
        lambda n: f"{made.choice(_VERBS)}_{made.choice(_VERBS)}_{n}",
    ]
    return [made.choices(shapes, (5, 2, 3))[0](number) for number in range(FUNCTIONS)]


NAMES = function_names()


def stacks(count: int, seed: int = 2) -> Iterator[Stack]:
    """Distinct ones: each begins as an earlier one does, and goes its own way near the leaf."""
    made = random.Random(seed)
    known: list[Stack] = []
    for _ in range(count):
        depth = max(4, int(made.gauss(MEAN_DEPTH, 12)))
        before = known[int(len(known) * made.random())] if known and made.random() < 0.97 else ()
        shared = before[: max(0, min(len(before), depth) - 1 - int(made.expovariate(1 / 6)))]
        # Few functions are in most stacks, as in any program.
        own = [(int(FUNCTIONS * made.random() ** 3), made.randrange(4)) for _ in range(depth - len(shared))]
        stack = (*shared, *own)
        if len(known) < 50_000:
            known.append(stack)
        yield stack


def write(path: Path, size: int, parts: Iterator[str] | Iterator[bytes]) -> int:
    """Parts until the file has that many bytes, or all of them; how many bytes it has."""
    written = 0
    with path.open("wb") as file:
        for part in parts:
            written += file.write(part.encode() if isinstance(part, str) else part)
            if written >= size:
                break
    return written


def each_once(text: Text, head: str = "", tail: str = "") -> Iterator[str]:
    """Stack after stack, none of them twice, as a tool prints that has added them up."""
    yield head
    for number, stack in enumerate(stacks(10_000_000)):
        yield text(stack, 16 + number % 4093 * 16)
    yield tail


# --- perf script and folded text --------------------------------------------------------------------------------------


def perf_script(unique_share: float, samples: int) -> Iterator[str]:
    made = random.Random(3)
    bodies = ["".join(map(_perf_frame, reversed(stack))) for stack in stacks(int(samples * unique_share))]
    order = [*range(len(bodies)), *made.choices(range(len(bodies)), k=samples - len(bodies))]
    made.shuffle(order)
    for number, chosen in enumerate(order):
        yield f"server  4711/{4711 + chosen % 8} [00{number % 8}] {1000 + number / 997:.6f}:   10000 cycles:u: \n"
        yield bodies[chosen] + "\n"


def _perf_frame(place: Place) -> str:
    return f"\t{_address(place):16x} {NAMES[place[0]]}+{_offset(place):#x} ({_module(place)})\n"


def folded(stack: Stack, value: int) -> str:
    return f"server;{';'.join(NAMES[function] for function, _ in stack)} {value}\n"


def _address(place: Place) -> int:
    return 0x7F0000000000 + place[0] * 4096 + _offset(place)


def _offset(place: Place) -> int:
    return 20 + place[1] * 52


def _module(place: Place) -> str:
    return ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/opt/acme/bin/server", "/opt/acme/lib/libsearch.so.3"][place[0] % 3]


def _base(place: Place) -> str:
    return _module(place).rpartition("/")[2]


def _leaf_first(frame: Callable[[Place], str], stack: Sequence[Place]) -> str:
    return "".join(map(frame, reversed(stack)))


# --- tools that print stacks ------------------------------------------------------------------------------------------


def stackcount(stack: Stack, value: int) -> str:
    frames = _leaf_first(lambda place: f"  {NAMES[place[0]]}\n", stack)
    return f"{frames}    server [4711]\n    {value}\n\n"


def memleak(stack: Stack, value: int) -> str:
    frames = _leaf_first(lambda p: f"\t\t0x{_address(p):016x}\t{NAMES[p[0]]}+{_offset(p):#x} [{_base(p)}]\n", stack)
    return f"\t{value} bytes in {value // 16} allocations from stack\n{frames}"


def dtrace(stack: Stack, value: int) -> str:
    frames = _leaf_first(lambda p: f"              {_base(p)}`{NAMES[p[0]]}+{_offset(p):#x}\n", stack)
    return f"\n{frames}              {value:>6}\n"


def bpftrace(stack: Stack, value: int) -> str:
    frames = _leaf_first(lambda p: f"    {NAMES[p[0]]}+{_offset(p)}\n", stack)
    return f"@bytes[\n{frames}, server, 4711]: {value}\n"


def bpftrace_json(stack: Stack, value: int) -> str:
    key = _leaf_first(lambda p: f"\\n    {NAMES[p[0]]}+{_offset(p)}", stack)
    return f'{{"type": "map", "data": {{"@bytes": {{"{key}\\n,server,4711": {value}}}}}}}\n'


def memcheck(stack: Stack, value: int) -> str:
    frames = _leaf_first(lambda p: f"==4711==    by 0x{_address(p):X}: {NAMES[p[0]]} (index.cc:{_offset(p)})\n", stack)
    head = f"==4711== {value:,} bytes in 1 blocks are definitely lost in loss record 1 of 9\n"
    return f"{head}{frames.replace(' by ', ' at ', 1)}==4711== \n"


def sanitizer(stack: Stack, value: int) -> str:
    lines = enumerate(reversed(stack))
    frames = "".join(f"    #{n} {_address(p):#x} in {NAMES[p[0]]} ({_module(p)}+{_offset(p):#x})\n" for n, p in lines)
    return f"Direct leak of {value} byte(s) in 1 object(s) allocated from:\n{frames}\n"


def jemalloc(stack: Stack, value: int) -> str:
    return f"@ {_addresses(stack)}\n  t*: 3: {value} [0: 0]\n  t0: 3: {value} [0: 0]\n"


def gperftools(stack: Stack, value: int) -> str:
    return f"{3:6}: {value:8} [{3:6}: {value:8}] @ {_addresses(stack)}\n"


def _addresses(stack: Stack) -> str:
    return " ".join(f"{_address(place):#x}" for place in reversed(stack))


HEADS = {
    "memleak": "[11:16:34] Top 99 stacks with outstanding allocations:\n",
    "jemalloc": "heap_v2/524288\n  t*: 3: 4096 [0: 0]\n",
    "gperftools": "heap profile:      3:     4096 [     3:     4096] @ heap_v2/524288\n",
    "sanitizer": "==4711==ERROR: LeakSanitizer: detected memory leaks\n\n",
}
TAILS = {
    "jemalloc": "\nMAPPED_LIBRARIES:\n7f0000000000-7f0010000000 r-xp 00000000 fe:00 1 /opt/acme/bin/server\n",
    "gperftools": "\nMAPPED_LIBRARIES:\n7f0000000000-7f0010000000 r-xp 00000000 fe:00 1 /opt/acme/bin/server\n",
}
