"""Bytes of a text file to its lines in UTF-8, none of them longer than the limit."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Protocol

from tracer.profile.errors import LimitExceeded
from tracer.profile.model import Limits, Profile

_ODD_SHARE = 0.3  # random bytes have 0.6 of these, a text with a damaged line has far fewer


def is_text(head: bytes) -> bool:
    """Whether most of it is printable: UTF-8, or UTF-16 with its mark."""
    text = head.decode(_encoding(head), "replace")
    odd = sum(text.count(mark) for mark in _ODD)
    return bool(text) and odd <= _ODD_SHARE * len(text)


_ODD = [chr(code) for code in range(32) if chr(code) not in "\t\n\r\f\x1b"] + ["\ufffd"]


def read_lines(steps: Iterator[bytes], limits: Limits) -> Iterator[bytes]:
    """Lines without their newline; a byte order mark is dropped, UTF-16 becomes UTF-8."""
    number, pending, size = 1, list[bytes](), 0
    for step in as_utf8(steps):
        first, *others = step.split(b"\n")
        pending.append(first)
        size += len(first)
        _check(number, size, limits)
        for line in others:
            yield b"".join(pending)
            pending, size, number = [line], len(line), number + 1
            _check(number, size, limits)
    if size:
        yield b"".join(pending)


def numbered_lines(steps: Iterator[bytes], limits: Limits) -> Iterator[tuple[int, str]]:
    """Lines with their 1-based numbers, without line end; bytes that are not UTF-8 become U+FFFD."""
    for number, line in enumerate(read_lines(steps, limits), start=1):
        if number > limits.lines:
            raise LimitExceeded("number of lines", limit=limits.lines, value=limits.lines, line=number, at_least=True)
        yield number, line.decode("utf-8", "replace").rstrip("\r")


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


def _check(number: int, size: int, limits: Limits) -> None:
    if size > limits.line_bytes:
        limit = limits.line_bytes
        raise LimitExceeded("length of a line in bytes", limit=limit, value=limit, line=number, at_least=True)


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
