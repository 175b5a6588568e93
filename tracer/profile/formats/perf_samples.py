"""`perf script` text to samples, each with its stack as frame ids, read in blocks that end at blank lines.

Most stacks of a file occur again: a known one costs one look-up of its text, whatever its depth.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tracer.profile.errors import LimitExceeded, MalformedProfile
from tracer.profile.formats.perf_lines import (
    Frame,
    Header,
    frame_of,
    header_of,
    is_source_line,
    may_be_header,
    plain_symbol,
    record_of,
)
from tracer.profile.formats.text import as_utf8
from tracer.profile.model import Limits, Profile

_BLOCK_BYTES = 1 << 20  # a block without a blank line is read on in parts of this size
_MEMO_BYTES = 32 << 20  # of known lines, and of known stacks; then they are forgotten
_ENTRY_BYTES = 250  # of a known stack, beside its ids
_ID_BYTES = array("i").itemsize


class Sample(NamedTuple):
    header: Header
    stack: bytes  # ids of its frames, root first, as C ints; may be empty


class _NotAFrame(Exception):
    """What it means is for the slow way of reading to find out."""


class _FrameIds(dict[bytes, bytes]):
    """Frame ids that a line stands for, root first, by the line: a known one costs one look-up in C."""

    def __init__(self, ids_of: Callable[[bytes], bytes]) -> None:
        self._ids_of, self._left = ids_of, _MEMO_BYTES

    def __missing__(self, line: bytes) -> bytes:
        self._left -= len(line)
        if self._left < 0:
            self.clear()
            self._left = _MEMO_BYTES
        ids = self[line] = self._ids_of(line)
        return ids


class PerfText:
    """Reads once; `profile` takes the names and the skipped lines."""

    def __init__(self, limits: Limits, names: Callable[[Frame], tuple[str, ...]]) -> None:
        self.profile = Profile(())
        self.lost = 0  # as perf's own records tell
        self._limits, self._names = limits, names
        self._ids_by_line = _FrameIds(self._new_ids)
        self._ids_by_symbol: dict[bytes, bytes] = {}
        # By the hash of their lines: ids, and how many lines. Lines of 3 KB a stack would soon fill any memory; of a
        # million stacks two have the same 64 bits in one of 30 million files, and the key is random in each process.
        self._callers: dict[int, tuple[bytes, int]] = {}
        self._callers_bytes = 0
        self._line = 1  # where what is read next begins; counting newlines would be a third of the work
        self._open: Header | None = None
        self._frames: list[bytes] = []  # of the open sample, leaf first

    def samples(self, steps: Iterator[bytes]) -> Iterator[Sample]:
        for block, is_whole in _blocks(steps, self._limits.line_bytes):
            self._check(block)
            quick = self._quick(block) if is_whole and self._open is None else None
            if quick is not None:
                yield quick
            else:
                yield from self._take_lines(block)
            if is_whole:
                yield from self._end()
                self._line += 1  # the blank one
        yield from self._end()

    def _take_lines(self, block: bytes) -> Iterator[Sample]:
        for line in block.split(b"\n"):
            yield from self._take_line(self._line, line)
            self._pass(1)

    def _pass(self, lines: int) -> None:
        self._line += lines
        if self._line - 1 > (limit := self._limits.lines):
            raise LimitExceeded("number of lines", limit=limit, value=limit, line=limit, at_least=True)

    def _check(self, block: bytes) -> None:
        if len(block) > self._limits.line_bytes:
            _check_lengths(self._line, block, self._limits.line_bytes)
        if b"\0" in block:
            line = self._line + block.count(b"\n", 0, block.index(b"\0"))
            raise MalformedProfile(f"line {line} holds a NUL byte: this is no text, or a damaged one")

    def _quick(self, block: bytes) -> Sample | None:
        """A header and nothing but frames after it; None for any other block."""
        first, _, body = block.partition(b"\n")
        header = header_of(first) if body else None
        if header is None or _frame_in(header) is not None:
            return None
        leaf, _, callers = body.partition(b"\n")
        try:
            leaf_ids = self._ids_by_line[leaf]
            caller_ids, lines = self._callers.get(hash(callers)) or self._new_callers(callers)
        except _NotAFrame:
            return None
        self._pass(2 + lines)
        self._check_frames(len(caller_ids) + len(leaf_ids))
        return Sample(header, caller_ids + leaf_ids)

    def _new_callers(self, callers: bytes) -> tuple[bytes, int]:
        lines = callers.split(b"\n") if callers else []
        ids = b"".join(map(self._ids_by_line.__getitem__, reversed(lines)))
        self._callers_bytes += len(ids) + _ENTRY_BYTES
        if self._callers_bytes > _MEMO_BYTES:
            self._callers.clear()
            self._callers_bytes = 0
        known = self._callers[hash(callers)] = ids, len(lines)
        return known

    def _take_line(self, number: int, line: bytes) -> Iterator[Sample]:
        if not line.strip():
            yield from self._end()
        elif line.startswith(b"#") or self._take_if_frame(number, line):
            return
        elif (header := header_of(line)) is not None:
            yield from self._end()
            self._begin(header)
        elif (record := record_of(line)) is not None:
            yield from self._end()
            self.lost += record[1]
        else:
            self.profile.skip(number, _shown(line), "it is neither the head of a sample nor a frame")

    def _take_if_frame(self, number: int, line: bytes) -> bool:
        try:
            ids = self._ids_by_line[line]
        except _NotAFrame:
            return False
        if self._open is not None:
            self._frames.append(ids)
            self._check_frames(len(self._frames) * _ID_BYTES)
        elif ids:
            self.profile.skip(number, _shown(line), "a frame without the head of its sample")
        return True

    def _begin(self, header: Header) -> None:
        self._open = header
        frame = _frame_in(header)
        if frame is not None:
            self._frames.append(self._ids(frame))

    def _end(self) -> Iterator[Sample]:
        header, frames = self._open, self._frames
        self._open, self._frames = None, []
        if header is not None:
            yield Sample(header, b"".join(reversed(frames)))

    def _new_ids(self, line: bytes) -> bytes:
        known = self._ids_by_symbol.get(plain_symbol(line))
        return self._read_ids(line) if known is None else known

    def _read_ids(self, line: bytes) -> bytes:
        # A head can look like a frame: `  dd 29776 666709.771979: cpu-clock:` begins with a hexadecimal number.
        if not line[:1].isspace() or may_be_header(line) and header_of(line) is not None:
            raise _NotAFrame
        frame = frame_of(line)
        if frame is not None:
            return self._ids(frame)
        if is_source_line(line):
            return b""
        raise _NotAFrame

    def _ids(self, frame: Frame) -> bytes:
        longest = max(len(frame.symbol), len(frame.module))
        if longest > self._limits.name_bytes:
            raise LimitExceeded("length of a frame's name in bytes", limit=self._limits.name_bytes, value=longest)
        ids = array("i", map(self.profile.id_of, self._names(frame))).tobytes()
        if frame.symbol and len(ids) == _ID_BYTES:
            self._ids_by_symbol[frame.symbol] = ids
        return ids

    def _check_frames(self, id_bytes: int) -> None:
        limit = self._limits.stack_frames
        if id_bytes > limit * _ID_BYTES:
            raise LimitExceeded("number of frames in a stack", limit=limit, value=id_bytes // _ID_BYTES)


def _frame_in(header: Header) -> Frame | None:
    """The only one, of a sample on one line: its address stands where other events have arguments."""
    payload = header.payload
    return frame_of(payload) if payload and payload[:1] in b"0123456789abcdef" else None


def _blocks(steps: Iterator[bytes], max_line: int) -> Iterator[tuple[bytes, bool]]:
    """What stands between blank lines, and whether this is the end of it; a line that is too long comes in part."""
    rest = b""
    for step in _with_plain_ends(as_utf8(steps)):
        *blocks, rest = (rest + step).split(b"\n\n")
        for block in blocks:
            yield block, True
        if len(rest) > _BLOCK_BYTES and (place := rest.rfind(b"\n")) >= 0:
            yield rest[:place], False
            rest = rest[place + 1 :]
        if len(rest) > max_line and len(rest) - rest.rfind(b"\n") - 1 > max_line:
            yield rest, False
    yield rest.removesuffix(b"\n"), True


def _with_plain_ends(steps: Iterator[bytes]) -> Iterator[bytes]:
    held = b""  # half of a line end, or of a blank line, must not be judged alone
    for step in steps:
        step = held + step
        held = b"\r" if step.endswith(b"\r") else b""
        yield step[: len(step) - len(held)].replace(b"\r\n", b"\n")
    yield held


def _check_lengths(number: int, block: bytes, limit: int) -> None:
    for place, line in enumerate(block.split(b"\n")):
        if len(line) > limit:
            what = "length of a line in bytes"
            raise LimitExceeded(what, limit=limit, value=limit, line=number + place, at_least=True)


def _shown(line: bytes) -> str:
    return line[:800].decode("utf-8", "replace").strip()[:200]
