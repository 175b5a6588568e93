"""Bytes of a text file to its lines in UTF-8, none of them longer than the limit, and to what they mean."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from tracer.profile.errors import LimitExceeded
from tracer.profile.model import Limits, Profile

_KNOWN_BYTES = 64 << 20  # of lines whose meaning is kept; then they are forgotten
_ENTRY_BYTES = 300  # of one of them, about, with its meaning
_ODD_SHARE = 0.3  # random bytes have 0.6 of these, a text with a damaged line has far fewer


def is_text(head: bytes) -> bool:
    """Whether most of it is printable: UTF-8, or UTF-16 with its mark."""
    text = head.decode(_encoding(head), "replace")
    odd = sum(text.count(mark) for mark in _ODD)
    return bool(text) and odd <= _ODD_SHARE * len(text)


_ODD = [chr(code) for code in range(32) if chr(code) not in "\t\n\r\f\x1b"] + ["\ufffd"]


def read_lines(steps: Iterator[bytes], limits: Limits) -> Iterator[bytes]:
    """Lines without their newline; a byte order mark is dropped, UTF-16 becomes UTF-8."""
    for block in _blocks(steps, limits):
        yield from block.split(b"\n")


def numbered_lines(steps: Iterator[bytes], limits: Limits) -> Iterator[tuple[int, str]]:
    """Lines with their 1-based numbers, without line end; bytes that are not UTF-8 become U+FFFD."""
    for number, block in numbered_blocks(steps, limits):
        lines = block.decode("utf-8", "replace").split("\n")
        if b"\r" in block:
            lines = [line.rstrip("\r") for line in lines]
        yield from enumerate(lines, number)


def numbered_blocks(steps: Iterator[bytes], limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Some whole lines each, without the last newline, and the 1-based number of the first."""
    number = 1
    for block in _blocks(steps, limits):
        last = number + block.count(b"\n")
        if last > (limit := limits.lines):
            yield number, b"\n".join(block.split(b"\n", limit + 1 - number)[: limit + 1 - number])
            raise LimitExceeded("number of lines", limit=limit, value=limit, line=limit + 1, at_least=True)
        yield number, block
        number = last + 1


Meaning = TypeVar("Meaning")


class Meanings(dict[str, Meaning]):
    """What a line means, by its text: in a large file nearly each line was there before, and costs one look-up."""

    def __init__(self, meaning_of: Callable[[str], Meaning]) -> None:
        self._meaning_of, self._left = meaning_of, _KNOWN_BYTES

    def __missing__(self, line: str) -> Meaning:
        self._left -= len(line) + _ENTRY_BYTES
        if self._left < 0:
            self.clear()
            self._left = _KNOWN_BYTES
        meaning = self[line] = self._meaning_of(line)
        return meaning


class LineReader(Protocol):
    """What an importer of a text makes of it, line by line."""

    def take(self, number: int, line: str) -> None: ...

    def finish(self) -> Profile: ...


def read_by_line(reader: LineReader, steps: Iterator[bytes], limits: Limits) -> Profile:
    for number, line in numbered_lines(steps, limits):
        reader.take(number, line)
    return reader.finish()


def head_text(head: bytes) -> str:
    """The first bytes of a file as text with single newlines, for recognising it."""
    text = head.decode(_encoding(head), "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n")


def _blocks(steps: Iterator[bytes], limits: Limits) -> Iterator[bytes]:
    """Some whole lines each, without the last newline."""
    number, pending, size = 1, list[bytes](), 0
    for step in as_utf8(steps):
        lines, newline, rest = step.rpartition(b"\n")
        pending.append(lines if newline else rest)
        size += len(pending[-1])
        if size > limits.line_bytes:  # unless all of it together is too long, no line can be
            _check(number, b"".join(pending), limits.line_bytes)
        if newline:
            block = b"".join(pending)
            yield block
            number, pending, size = number + block.count(b"\n") + 1, [rest], len(rest)
            _check(number, rest, limits.line_bytes)
    if size:
        yield b"".join(pending)


def _check(number: int, lines: bytes, limit: int) -> None:
    for place, line in enumerate(lines.split(b"\n")):
        if len(line) > limit:
            what = "length of a line in bytes"
            raise LimitExceeded(what, limit=limit, value=limit, line=number + place, at_least=True)


def as_utf8(steps: Iterator[bytes]) -> Iterator[bytes]:
    """The same text without its byte order mark."""
    first = next(steps, b"")
    encoding = _encoding(first)
    if encoding == "utf-8":
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from steps
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(first).encode("utf-8", "replace")
    for step in steps:
        yield decoder.decode(step).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _encoding(head: bytes) -> str:
    return "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
