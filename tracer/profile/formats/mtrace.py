"""A log of glibc's mtrace() to what each place allocated and did not give back: the importer.

https://man7.org/linux/man-pages/man3/mtrace.3.html

= Start
@ ./search-api:(load_index+0x1e)[0x401196] + 0x4052a0 0x64
@ ./search-api:(load_index+0x3c)[0x4011b4] - 0x4052a0
= End
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.profile.errors import LimitExceeded
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text, read_by_line
from tracer.profile.model import Profile, ValueType

NAME = "mtrace"
TITLE = "glibc mtrace"

_EVENT = re.compile(
    r"(?:@ (?P<place>.*?) )?(?P<kind>[-+<>!]) (?P<block>0x[0-9a-f]+|\(nil\)|0)(?: (?P<size>0x[0-9a-f]+|0))?"
)
_PLACE = re.compile(r"(?P<file>.*?):?(?:\((?P<name>[^()+]*)(?:\+(?:0x)?[0-9a-f]+)?\))?\[(?P<address>0x[0-9a-f]+)\]")
_VALUE_TYPES = (
    ValueType("outstanding_bytes", "bytes", "level", "Bytes allocated while it logged and not freed by its end"),
    ValueType("outstanding_objects", "objects", "level", "Objects allocated while it logged and not freed by its end"),
    ValueType("allocated_bytes", "bytes", "flow", "Bytes allocated while it logged, freed since or not"),
    ValueType("allocated_objects", "objects", "flow", "Objects allocated while it logged, freed since or not"),
)


def matches(head: bytes) -> bool:
    return any(line == "= Start" for line in head_text(head).splitlines()[:100])


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    return read_by_line(_Log(reading), steps, reading.limits)


class _Log:
    """The file knows the caller only, so a stack is one frame."""

    def __init__(self, reading: Reading) -> None:
        self._limits = reading.limits
        self._sums = StackSums(_VALUE_TYPES, reading.limits)
        self._values_by_place: dict[str, list[int]] = {}
        self._live: dict[str, tuple[str, int]] = {}  # place and bytes of a block
        self._unknown = 0

    def take(self, number: int, line: str) -> None:
        event = _EVENT.fullmatch(line.strip())
        if event is None:
            if line.strip() and not line.startswith("="):
                self._sums.profile.skip(number, line, "it is no event of mtrace")
            return
        kind, block = event["kind"], event["block"]
        if kind in "-<":
            self._free(block)
        if kind in "+>" and block not in ("(nil)", "0"):
            self._allocate(_name(event["place"] or ""), block, int(event["size"] or "0", 16), number)

    def finish(self) -> Profile:
        for place, values in self._values_by_place.items():
            self._sums.add([place], values)
        profile = self._sums.finish("the log holds no allocation")
        if self._unknown:
            profile.capture = {"unknown_frees": self._unknown}
        return profile

    def _allocate(self, place: str, block: str, size: int, number: int) -> None:
        values = self._values_by_place.setdefault(place, [0, 0, 0, 0])
        values[:] = [values[0] + size, values[1] + 1, values[2] + size, values[3] + 1]
        self._live[block] = place, size
        if len(self._live) > (limit := self._limits.tree_nodes):
            raise LimitExceeded("number of live blocks", limit=limit, value=len(self._live), line=number)

    def _free(self, block: str) -> None:
        known = self._live.pop(block, None)
        if known is None:
            self._unknown += block not in ("(nil)", "0")
            return
        place, size = known
        values = self._values_by_place[place]
        values[:2] = [values[0] - size, values[1] - 1]


def _name(text: str) -> str:
    """The function; of one without a name, file and address."""
    place = _PLACE.fullmatch(text)
    if place is None:
        return text or "[unknown]"
    return place["name"] or f"{place['file'].rstrip(':').rpartition('/')[2]}+{place['address']}"
