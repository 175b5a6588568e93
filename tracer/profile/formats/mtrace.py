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

from tracer.profile.formats.blocks import OUTSTANDING_AND_ALLOCATED, Blocks
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.formats.text import head_text, read_by_line
from tracer.profile.model import Profile

NAME = "mtrace"
TITLE = "glibc mtrace"

_EVENT = re.compile(
    r"(?:@ (?P<place>.*?) )?(?P<kind>[-+<>!]) (?P<block>0x[0-9a-f]+|\(nil\)|0)(?: (?P<size>0x[0-9a-f]+|0))?"
)
_PLACE = re.compile(r"(?P<file>.*?):?(?:\((?P<name>[^()+]*)(?:\+(?:0x)?[0-9a-f]+)?\))?\[(?P<address>0x[0-9a-f]+)\]")


def matches(head: bytes) -> bool:
    return any(line == "= Start" for line in head_text(head).splitlines()[:100])


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    return read_by_line(_Log(reading), steps, reading.limits)


class _Log:
    """The file knows the caller only, so a stack is one frame."""

    def __init__(self, reading: Reading) -> None:
        self._sums = StackSums(OUTSTANDING_AND_ALLOCATED, reading.limits)
        self._blocks = Blocks(reading.limits)

    def take(self, number: int, line: str) -> None:
        event = _EVENT.fullmatch(line.strip())
        if event is None:
            if line.strip() and not line.startswith("="):
                self._sums.profile.skip(number, line, "it is no event of mtrace")
            return
        kind, block = event["kind"], event["block"]
        address = 0 if block == "(nil)" else int(block, 16)
        if kind in "-<":
            self._blocks.free(address)
        if kind in "+>" and address:
            self._blocks.allocate((_name(event["place"] or ""),), address, int(event["size"] or "0", 16), number)

    def finish(self) -> Profile:
        for stack, values in self._blocks.rows():
            self._sums.add(stack, values)
        profile = self._sums.finish("the log holds no allocation")
        profile.capture = self._blocks.capture()
        return profile


def _name(text: str) -> str:
    """The function; of one without a name, file and address."""
    place = _PLACE.fullmatch(text)
    if place is None:
        return text or "[unknown]"
    return place["name"] or f"{place['file'].rstrip(':').rpartition('/')[2]}+{place['address']}"
