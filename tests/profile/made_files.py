"""One stack of given frames, root first, as a file of each format."""

from __future__ import annotations

import json
from collections.abc import Callable
from xml.sax.saxutils import escape


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def lines(*texts: str) -> bytes:
    return "\n".join([*texts, ""]).encode()


def folded(frames: list[str]) -> bytes:
    return lines(f"{';'.join(frames)} 3")


def perf_script(frames: list[str]) -> bytes:
    return lines("svc 7 1.5:  3 faults:", *(f"\t1 {name}+0x1 (/a)" for name in reversed(frames)))


def stackcount(frames: list[str]) -> bytes:
    head = 'Tracing 1 functions for "c:malloc"... Hit Ctrl-C to end.'
    return lines(head, "", *(f"  {name}" for name in reversed(frames)), "    3", "")


def memleak(frames: list[str]) -> bytes:
    head = "[10:00:00] Top 10 stacks with outstanding allocations:", "\t3 bytes in 1 allocations from stack"
    return lines(*head, *(f"\t\t{name}+0x1 [a]" for name in reversed(frames)))


def bpftrace(frames: list[str]) -> bytes:
    return lines("Attaching 1 probe...", "", "@bytes[", *(f"    {name}+1" for name in reversed(frames)), "]: 3")


def dtrace(frames: list[str]) -> bytes:
    head = "CPU     ID                    FUNCTION:NAME", "  0      1                         :tick-5s", ""
    return lines(*head, *(f"              a`{name}+0x1" for name in reversed(frames)), "                3", "")


def jemalloc(frames: list[str]) -> bytes:
    names = lines("--- symbol", "binary=/a", *(f"0x{place:x}0 {name}" for place, name in enumerate(frames, 1)), "---")
    stack = " ".join(f"0x{place:x}0" for place in range(len(frames), 0, -1))
    return names + lines("--- heap", "heap_v2/1", "  t*: 1: 3 [0: 0]", f"@ {stack}", "  t*: 1: 3 [0: 0]")


def gperftools(frames: list[str]) -> bytes:
    stack = " ".join(f"0x{place:x}" for place in range(len(frames), 0, -1))
    return lines("heap profile: 1: 3 [1: 3] @ heapprofile", f"1: 3 [1: 3] @ {stack}", "", "MAPPED_LIBRARIES:")


def pprof(
    frames: list[str], value: int = 3, *, counts: tuple[str, str] = ("space", "bytes"), period_ms: int = 0
) -> bytes:
    """`period_ms` between two samples; 0 says nothing of it."""
    places = {name: place for place, name in enumerate(dict.fromkeys(frames), 1)}
    sample = field(1, b"".join(varint(places[name]) for name in reversed(frames))) + field(2, varint(value))
    tables = b"".join(
        field(5, field(1, place) + field(2, place + 2)) + field(4, field(1, place) + field(4, field(1, place)))
        for place in places.values()
    )
    strings = b"".join(field(6, name.encode()) for name in ["", *counts, *places, "cpu", "milliseconds"])
    last = len(places) + 4
    period = field(11, field(1, last - 1) + field(2, last)) + field(12, period_ms) if period_ms else b""
    return field(1, field(1, 1) + field(2, 2)) + field(2, sample) + tables + strings + period


def massif(frames: list[str]) -> bytes:
    head = "desc: (none)", "cmd: ./a", "time_unit: i", "#-----------", "snapshot=0", "#-----------", "time=0"
    sizes = (
        "mem_heap_B=3",
        "mem_heap_extra_B=0",
        "mem_stacks_B=0",
        "heap_tree=peak",
        "n1: 3 (heap allocation functions)",
    )
    last = len(frames) - 1
    nodes = (f" n{int(place < last)}: 3 0x1: {name} (a.c:1)" for place, name in enumerate(reversed(frames)))
    return lines(*head, *sizes, *nodes)


def heaptrack(frames: list[str]) -> bytes:
    told = [f"s {len(name):x} {name}" for name in ["a", *frames]]
    named = [f"i 1 1 {place:x} 0 0" for place in range(2, len(frames) + 2)]
    traces = [f"t {place:x} {place - 1:x}" for place in range(1, len(frames) + 1)]
    return lines("v 10400 3", "X ./a", *told, *named, *traces, f"a 3 {len(frames):x}", "+ 0")


def speedscope(frames: list[str]) -> bytes:
    shared = {"frames": [{"name": name} for name in frames]}
    sampled = {"type": "sampled", "name": "a", "unit": "bytes", "startValue": 0, "endValue": 3}
    profiles = [{**sampled, "samples": [list(range(len(frames)))], "weights": [3]}]
    schema = "https://www.speedscope.app/file-format-schema.json"
    return json.dumps({"$schema": schema, "shared": shared, "profiles": profiles}).encode()


def dhat(frames: list[str]) -> bytes:
    table = ["[root]", *(f"0x1: {name} (a.c:1)" for name in frames)]
    points = [{"tb": 3, "tbk": 1, "fs": list(range(len(frames), 0, -1))}]
    return json.dumps({"dhatFileVersion": 2, "mode": "heap", "ftbl": table, "pps": points}).encode()


def sanitizer(frames: list[str]) -> bytes:
    head = (
        "==7==ERROR: LeakSanitizer: detected memory leaks",
        "",
        "Direct leak of 3 byte(s) in 1 object(s) allocated from:",
    )
    return lines(*head, *(f"    #{place} 0x1 in {name} /a.c:1" for place, name in enumerate(reversed(frames))), "")


def memcheck(frames: list[str]) -> bytes:
    head = (
        "==7== Memcheck, a memory error detector",
        "==7== 3 bytes in 1 blocks are definitely lost in loss record 1 of 1",
    )
    stack = [f"==7==    {'by' if place else 'at'} 0x1: {name} (a.c:1)" for place, name in enumerate(reversed(frames))]
    return lines(*head, *stack, "==7== ", "==7== LEAK SUMMARY:")


def memcheck_xml(frames: list[str]) -> bytes:
    head = "<?xml version='1.0'?>", "<valgrindoutput>", "<pid>7</pid>", "<error>"
    lost = "<text>3 bytes in 1 blocks are definitely lost in loss record 1 of 1</text>"
    named = (f"<frame>\n<fn>{escape(name)}</fn>\n</frame>" for name in reversed(frames))
    return lines(*head, lost, *named, "</error>", "</valgrindoutput>")


def dtrace_events(frames: list[str]) -> bytes:
    stack = [f"              a`{name}+0x1" for name in reversed(frames)]
    return lines("# memflame-dtrace 1", "malloc 1 0x5581c0 3", *stack, "")


def strace(frames: list[str]) -> bytes:
    call = "mmap(NULL, 3, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x10000"
    return lines(call, *(f" > /a({name}+0x1) [0x1]" for name in reversed(frames)))


MAKERS: dict[str, Callable[[list[str]], bytes]] = {
    maker.__name__: maker
    for maker in (
        folded, perf_script, stackcount, memleak, bpftrace, dtrace, jemalloc, gperftools, pprof, massif, heaptrack,
        speedscope, dhat, sanitizer, memcheck, memcheck_xml, dtrace_events, strace,
    )
}  # fmt: skip
