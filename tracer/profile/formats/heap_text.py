"""What jemalloc's and tcmalloc's heap texts have in common: sampled sizes, addresses, and the libraries they lie in."""

from __future__ import annotations

import bisect
import math
import re
from array import array
from collections.abc import Iterable, Sequence
from itertools import islice

from tracer.profile.errors import LimitExceeded
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.model import Limits, Number, Profile, ValueType
from tracer.profile.places import MOST_TOLD

INUSE = (
    ValueType("inuse_bytes", "bytes", "level", "Bytes in use when the profile was taken"),
    ValueType("inuse_objects", "objects", "level", "Objects in use when the profile was taken"),
)
ALLOCATED = (
    ValueType("alloc_bytes", "bytes", "flow", "Bytes allocated since the program began, freed since or not"),
    ValueType("alloc_objects", "objects", "flow", "Objects allocated since the program began, freed since or not"),
)
_MAP_LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) [0-9a-f]+:[0-9a-f]+ \d+ *(.*)")
_BRIEF_LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+): (\S.*)")  # of tcmalloc's first profiles: code only, no offset
_MAX_LIBRARIES = 100_000


def unsampled(size: Number, objects: Number, rate: int) -> tuple[Number, Number]:
    """Bytes and objects of one stack as they were before an object of s bytes was kept with probability 1-exp(-s/rate).

    Each stack by itself: the scale of a total would be that of an average object.
    """
    if rate <= 1 or not objects:
        return size, objects
    scale = 1 / -math.expm1(-abs(size / objects) / rate) if size else 1.0
    return size * scale, objects * scale


def sampled_types(value_types: Iterable[ValueType], rate: int) -> tuple[ValueType, ...]:
    """The same, with fractions and the rate in their meaning, if there is a rate."""
    if rate <= 1:
        return tuple(value_types)
    about = f"estimated from samples every {size_text(rate)}"
    return tuple(
        ValueType(known.name, known.unit, known.kind, f"{known.meaning}, {about}", is_float=True)
        for known in value_types
    )


def rate_facts(rate: int) -> dict[str, object]:
    """Keys of the capture."""
    return {"sample_bytes": rate} if rate > 1 else {}


def size_text(count: int) -> str:
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size and count % size == 0:
            return f"{count // size}\N{NO-BREAK SPACE}{unit}"
    return f"{count:,}\N{NO-BREAK SPACE}B"


class Libraries:
    """Lines of /proc/PID/maps to the name of an address: file and place in it."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int, int, str]] = []  # start, end, offset, path
        self.paths: dict[str, str] = {}  # by file name, of those that gave a name

    def take(self, line: str) -> bool:
        """Whether it was one; only those of code are kept."""
        if found := _MAP_LINE.match(line.strip()):
            start, end, permissions, offset, path = found.groups()
            if "x" in permissions and path:
                self._add(start, end, offset, path)
            return True
        if found := _BRIEF_LINE.match(line.strip()):
            self._add(found[1], found[2], "0", found[3])
        return found is not None

    def _add(self, start: str, end: str, offset: str, path: str) -> None:
        self._spans.append((int(start, 16), int(end, 16), int(offset, 16), path))
        if len(self._spans) > _MAX_LIBRARIES:
            raise LimitExceeded("number of mapped libraries", limit=_MAX_LIBRARIES, value=len(self._spans))

    def sort(self) -> None:
        self._spans.sort()

    def name(self, address: int) -> str:
        position = bisect.bisect_right(self._spans, (address, math.inf)) - 1
        if position >= 0:
            start, end, offset, path = self._spans[position]
            if address < end:
                module = path.rpartition("/")[2]
                self.paths[module] = path
                return f"{module}+{address - start + offset:#x}"
        return f"{address:#x}"


class _AddressKeys(dict[str, bytes]):
    """The bytes of an address's number by its text; of callers, the address is inside of the call and not behind it."""

    def __init__(self, addresses: list[int], less: int) -> None:
        self._addresses, self._less = addresses, less

    def __missing__(self, text: str) -> bytes:
        if not text.startswith("0x"):
            raise ValueError(f"{text!r} is no address")
        self._addresses.append(int(text, 16) - self._less)
        key = self[text] = array("i", [len(self._addresses) - 1]).tobytes()
        return key


class AddressSums:
    """Values by addresses, named when all of the file is read: it lists the libraries last."""

    def __init__(self, value_types: Sequence[ValueType], limits: Limits) -> None:
        self._sums = StackSums(value_types, limits)
        self._limits = limits
        self._addresses: list[int] = []  # by the numbers that stand for frames until all of the file is read
        self._leaves, self._callers = (_AddressKeys(self._addresses, less) for less in (0, 1))
        self.libraries = Libraries()
        self.names_by_address: dict[int, list[str]] = {}  # root first, where the file tells

    @property
    def profile(self) -> Profile:
        return self._sums.profile

    def key(self, text: str) -> bytes:
        """Of a stack as the file has it, leaf first; ValueError if it holds something else than addresses."""
        leaf, *callers = text.split()
        return b"".join(map(self._callers.__getitem__, reversed(callers))) + self._leaves[leaf]

    def add(self, key: bytes, values: Sequence[Number], line: int) -> None:
        self._sums.add_key(key, values, line)

    def finish(self) -> Profile:
        found = self._sums.finish("the profile holds no stack")
        self.libraries.sort()
        named = StackSums(found.value_types, self._limits)
        keys = [named.key(self._names(address)) for address in self._addresses]
        for ids, row in found.row_by_key.items():
            key = b"".join([keys[number] for number in array("i", ids)])
            named.add_key(key, [column[row] for column in found.columns])
        profile = named.finish()
        profile.skipped, profile.skipped_lines = found.skipped, found.skipped_lines
        if self.libraries.paths:
            profile.capture = {"modules": dict(islice(self.libraries.paths.items(), MOST_TOLD))}
        return profile

    def _names(self, address: int) -> list[str]:
        known = self.names_by_address.get(address) or self.names_by_address.get(address + 1)
        return known or [self.libraries.name(address)]
