"""Maps of a program, read and written as bytes: hash maps whole, per-processor counters summed."""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tracer.bpf import syscalls

_ALL = "/sys/devices/system/cpu/possible"
_ONLINE = "/sys/devices/system/cpu/online"


@dataclass(frozen=True, slots=True)
class Map:
    """One map; its sizes are those the compiler gave it."""

    fd: int
    key_bytes: int
    value_bytes: int
    max_entries: int

    def lookup(self, key: bytes) -> bytes | None:
        return syscalls.lookup(self.fd, key, self.value_bytes)

    def update(self, key: bytes, value: bytes) -> None:
        """Of a per-processor array: with the values of all of them, one behind the other."""
        syscalls.update(self.fd, key, value)

    def delete(self, key: bytes) -> None:
        """Of a key without an entry, nothing happens."""
        syscalls.delete(self.fd, key)

    def try_update(self, key: bytes, value: bytes) -> bool:
        """False if the map is full."""
        try:
            self.update(key, value)
        except OSError as error:
            if error.errno == errno.E2BIG:
                return False
            raise
        return True

    def entries(self) -> Iterator[tuple[bytes, bytes]]:
        return syscalls.lookup_all(
            self.fd, key_bytes=self.key_bytes, value_bytes=self.value_bytes, max_entries=self.max_entries
        )

    def values(self) -> memoryview:
        """Of all entries, one behind the other."""
        return syscalls.lookup_values(
            self.fd, key_bytes=self.key_bytes, value_bytes=self.value_bytes, max_entries=self.max_entries
        )


@dataclass(frozen=True, slots=True)
class Counters:
    """A per-processor array of u64, one element a name."""

    array: Map
    names: Sequence[str]

    def sums(self) -> dict[str, int]:
        return {name: self._sum(position) for position, name in enumerate(self.names)}

    def _sum(self, position: int) -> int:
        return processor_sums(self.array, struct.pack("=I", position))[0]


def processor_sums(table: Map, key: bytes) -> tuple[int, ...]:
    """The value of a key that each processor has of its own, summed; 0 without an entry."""
    return summed(table.lookup(key) or bytes(table.value_bytes))


def summed(value: bytes) -> tuple[int, ...]:
    """The u64 fields of a value that each processor has of its own, each summed over them."""
    words = struct.unpack(f"={len(value) // 8}Q", value)
    width = len(words) // len(processors_possible())
    return tuple(sum(words[field::width]) for field in range(width))


def processors_possible() -> list[int]:
    return processors(_ALL)


def online_processors() -> list[int]:
    return processors(_ONLINE)


@cache
def processors(path: str) -> list[int]:
    """Numbers in the kernel's list form: `0-3,8` is 0, 1, 2, 3 and 8."""
    numbers: list[int] = []
    for span in Path(path).read_text().strip().split(","):
        first, _, last = span.partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return numbers
