"""Folded stacks as any tool writes them, and our own form: the importer.

https://github.com/brendangregg/FlameGraph#2-fold-stacks

main;load_index;malloc 4096
main;load_index;malloc 23
main;serve;operator new(unsigned long) 64
"""

from __future__ import annotations

from collections.abc import Iterator

from tracer.profile.folded import read_folded
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.text import is_text, read_lines
from tracer.profile.model import Profile

NAME = "folded"
TITLE = "folded stacks"


def matches(head: bytes) -> bool:
    return is_text(head)


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    lines = read_lines(steps, reading.limits)
    return read_folded(lines, resolve=reading.resolve, limits=reading.limits, columns=reading.columns)
