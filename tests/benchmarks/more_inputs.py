"""The inputs that are no stacks in text: events that are replayed, trees, tables of numbers."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from tests.benchmarks.inputs import FUNCTIONS, NAMES, Stack, stacks

_RULE = "#-----------\n"


def mtrace() -> Iterator[str]:
    """Each place allocates, and three of four blocks are freed."""
    made = random.Random(4)
    yield "= Start\n"
    for number in range(100_000_000):
        place = f"@ ./server:({NAMES[made.randrange(4000)]}+0x1e)[0x{0x401000 + number % 4000 * 16:x}]"
        block = 0x4052A0 + number % 1_000_000 * 48
        yield f"{place} + {block:#x} {16 + number % 512:#x}\n"
        if number % 4:
            yield f"{place} - {block:#x}\n"


def heaptrack() -> Iterator[str]:
    """A new trace or description now and then, as in a recording; else allocations and frees of known ones."""
    made = random.Random(5)
    yield "v 10400 3\nX ./server\ns 6 server\n"
    yield from (f"s {len(name):x} {name}\n" for name in NAMES)
    yield from (f"i {0x401000 + number * 16:x} 1 {number + 2:x}\n" for number in range(FUNCTIONS))
    traces = known = 0
    while True:
        if known < 200_000:
            traces += 1
            yield f"t {made.randrange(FUNCTIONS) + 1:x} {made.randrange(traces):x}\n"
            yield f"a {16 + known % 4096:x} {traces:x}\n"
            known += 1
        allocated = [made.randrange(known) for _ in range(20)]
        freed = [number for number in allocated if number % 8]
        yield "".join([*(f"+ {number:x}\n" for number in allocated), *(f"- {number:x}\n" for number in freed)])
        yield f"c {traces:x}\n"


def massif(size: int) -> Iterator[str]:
    """Snapshots, each with its tree of 0.5 MB: a root of some chains of callers."""
    made = random.Random(6)
    yield "desc: (none)\ncmd: ./server\ntime_unit: i\n"
    for snapshot in range(max(1, size // 500_000)):
        yield f"{_RULE}snapshot={snapshot}\n{_RULE}time={snapshot}\nmem_heap_B=9\n"
        yield "mem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree=detailed\n"
        chains = [made.choices(range(FUNCTIONS), k=30) for _ in range(200)]
        yield f"n{len(chains)}: {len(chains) * 4096} (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
        for chain in chains:
            for depth, function in enumerate(chain, 1):
                callers = int(depth < len(chain))
                address = f"0x{0x401000 + function * 16:X}"
                yield f"{' ' * depth}n{callers}: 4096 {address}: {NAMES[function]} (index.cc:{function % 900})\n"


def speedscope(count: int) -> Iterator[str]:
    yield '{"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": '
    yield json.dumps([{"name": name} for name in NAMES])
    yield '}, "profiles": [{"type": "sampled", "name": "bytes", "unit": "bytes", "startValue": 0, "endValue": 1, '
    yield '"samples": ['
    yield from _rows(count, lambda stack, _: json.dumps([function for function, _ in stack]))
    yield '], "weights": [' + ",".join(str(16 + number % 4093) for number in range(count)) + "]}]}"


def dhat(count: int) -> Iterator[str]:
    yield '{"dhatFileVersion": 2, "mode": "heap", "verb": "Allocated", "bklt": true, "bkacc": false, "cmd": "./a", '
    yield '"pps": ['
    yield from _rows(count, _program_point)
    frames = [f"0x{0x401000 + number * 16:X}: {name} (index.cc:{number % 900})" for number, name in enumerate(NAMES)]
    yield f'], "ftbl": {json.dumps(["[root]", *frames])}}}'


def _program_point(stack: Stack, number: int) -> str:
    bytes_of = 16 + number % 4093
    values = {"tb": bytes_of, "tbk": 1, "tl": 9, "mb": bytes_of, "mbk": 1, "gb": bytes_of, "gbk": 1, "eb": 0, "ebk": 0}
    return json.dumps({**values, "fs": [function + 1 for function, _ in reversed(stack)]})


def _rows(count: int, text: object) -> Iterator[str]:
    assert callable(text)
    for number, stack in enumerate(stacks(count)):
        yield ("," if number else "") + text(stack, number)


def pprof() -> Iterator[bytes]:
    """Tables first, as Go has them last and others first: readers take both."""
    yield _field(1, _number(1, 1) + _number(2, 2))
    yield from (_field(6, text.encode()) for text in ("", "inuse_space", "bytes", *NAMES))
    for function in range(FUNCTIONS):
        yield _field(5, _number(1, function + 1) + _number(2, function + 3))
        for site in range(4):
            line = _field(4, _number(1, function + 1) + _number(2, site + 1))
            yield _field(4, _number(1, 1 + function * 4 + site) + _number(3, function * 4096 + site) + line)
    for number, stack in enumerate(stacks(10_000_000)):
        places = b"".join(_varint(1 + function * 4 + site) for function, site in reversed(stack))
        yield _field(2, _field(1, places) + _field(2, _varint(16 + number % 4093 * 16)))


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
