"""Samples of perf events to values: periods, calls, and the bytes that the arguments of a tracepoint or uprobe give."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping

from tracer.profile.formats.perf_lines import Header
from tracer.profile.model import ValueType

Fields = Mapping[str, int]


class Event:
    """One event of a file, its values summed by stack; `is_measured` once an argument gave bytes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_measured = name.endswith(_BRK)
        self.has_payload = False
        self.amounts: defaultdict[bytes, int] = defaultdict(int)  # periods, or calls
        self.bytes: defaultdict[bytes, int] = defaultdict(int)
        self._breaks: dict[int, int] = {}  # by process, as last asked for
        self._bytes_in = _READERS.get(name.rpartition(":")[2].removeprefix("sys_enter_"))

    def take(self, header: Header, stack: bytes) -> None:
        self.amounts[stack] += 1 if header.period is None else header.period
        if not header.payload:
            return
        self.has_payload = True
        size = self._size(header)
        if size is not None:
            self.is_measured = True
            self.bytes[stack] += size

    def columns(self) -> list[tuple[ValueType, Mapping[bytes, int]]]:
        """Bytes first. Calls and bytes are never added up, nor are two events."""
        base = self.name.lower().replace(" ", "_")
        what = f"of {self.name}, as recorded by perf"
        if not self.is_measured:
            unit, words = _unit(self.name, self.has_payload)
            return [(ValueType(base, unit, "flow", f"{words} {what}"), self.amounts)]
        is_signed = any(size < 0 for size in self.bytes.values())
        asked = _MEANINGS.get(base.rpartition(":")[2], "Bytes asked for by calls")
        return [
            (ValueType(f"{base}.bytes", "bytes", "flow", f"{asked} {what}", is_signed=is_signed), self.bytes),
            (ValueType(f"{base}.calls", "calls", "flow", f"Calls {what}"), self.amounts),
        ]

    def _size(self, header: Header) -> int | None:
        if self.name.endswith(_BRK):
            return self._growth(header)
        fields = fields_of(header.payload)
        if self._bytes_in is not None:
            return self._bytes_in(fields)
        return _argument(fields) if header.payload.startswith(b"(") else None

    def _growth(self, header: Header) -> int:
        """brk() takes and gives an address: bytes are what lies between two of them; the first one tells nothing."""
        end = _address(header.payload)
        before = self._breaks.get(header.pid, end)
        if not end or abs(end - before) > _LARGEST_STEP:
            return 0
        self._breaks[header.pid] = end
        return end - before


def _address(payload: bytes) -> int:
    return int(payload.removeprefix(b"brk:") or b"0", 0) if _BREAK.fullmatch(payload) else 0


_BRK = ("sys_enter_brk", "sys_exit_brk")
_BREAK = re.compile(rb"(?:brk: )?0x[0-9a-f]{1,16}")
_LARGEST_STEP = 1 << 40  # who asks brk() for more asks in vain


def fields_of(payload: bytes) -> dict[str, int]:
    """`addr: 0x00000000, len: 0x00002000` or `(7f17…) size=4096`: what is a whole number, by name."""
    return {name.decode(): int(text, 0) for name, text in _FIELD.findall(payload)}


_FIELD = re.compile(rb"\b([a-z_]\w{0,40})(?:: |=)(0x[0-9a-f]{1,16}|0(?!\d)|[1-9]\d{0,18})(?=[\s,]|$)")


def _length(fields: Fields) -> int | None:
    return fields.get("len")


def _moved(fields: Fields) -> int | None:
    return fields["new_len"] - fields["old_len"] if {"new_len", "old_len"} <= fields.keys() else None


def _slab(fields: Fields) -> int | None:
    return fields.get("bytes_alloc", fields.get("bytes_req"))


_READERS: Mapping[str, Callable[[Fields], int | None]] = {
    "mmap": _length,
    "munmap": _length,
    "mprotect": _length,
    "madvise": _length,
    "mremap": _moved,
    "kmalloc": _slab,
    "kmem_cache_alloc": _slab,
}
_SIZES = ("size", "bytes", "nbytes", "len", "length")  # names that people give to arguments of their uprobes
_COUNTS = ("nmemb", "count", "n")


def _argument(fields: Fields) -> int | None:
    """Of a uprobe: the size, times the number of members where there is one, as calloc has it."""
    size = next((fields[name] for name in _SIZES if name in fields), None)
    count = next((fields[name] for name in _COUNTS if name in fields), 1)
    return None if size is None else size * count


_MEANINGS = {
    "sys_enter_brk": "Bytes between the addresses that successive calls asked for,",
    "sys_exit_brk": "Bytes between the addresses that successive calls got,",
    "sys_enter_munmap": "Bytes unmapped by calls",
    "sys_enter_mremap": "Bytes by which calls made mappings larger",
    "sys_enter_mprotect": "Bytes whose protection was set by calls",
}


def _unit(event: str, has_payload: bool) -> tuple[str, str]:
    """Unit and its word for the meaning."""
    name = re.split(r"[:/]", event)[0]
    if name.endswith("-faults"):
        return "faults", "Page faults"
    if name in ("cpu-clock", "task-clock"):
        return "nanoseconds", "Nanoseconds"
    if has_payload or ":" in event and not re.fullmatch(r"[^:]+:[ukhGHpPSDIWe]+", event):
        return "calls", "Calls"
    return name, "Counts"
