"""`perf script` text to samples, each with its stack as frame ids, read in blocks that end at blank lines.

Most stacks of a file occur again: a known one costs one look-up of its text, whatever its depth.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tracer.profile.errors import LimitExceeded, MalformedProfile
from tracer.profile.formats.perf_lines import Frame, Header, frame_of, header_of, is_source_line, record_of
from tracer.profile.formats.text import as_utf8
from tracer.profile.model import Limits, Profile

_BLOCK_BYTES = 1 << 20  # a block without a blank line is read on in parts of this size
_MEMO_BYTES = 64 << 20  # of known lines and stacks; then they are forgotten
_ID_BYTES = array("i").itemsize


class Sample(NamedTuple):
    header: Header
    stack: bytes  # ids of its frames, root first, as C ints; may be empty


class PerfText:
    """Reads once; `profile` takes the names and the skipped lines."""

    def __init__(self, limits: Limits, names: Callable[[Frame], tuple[str, ...]]) -> None:
        self.profile = Profile(())
        self.lost = 0  # as perf's own records tell
        self._limits, self._names = limits, names
        self._ids_by_line: dict[bytes, bytes | None] = {}
        self._ids_by_callers: dict[bytes, bytes] = {}
        self._memo_bytes = 0
        self._open: Header | None = None
        self._frames: list[bytes] = []  # of the open sample, leaf first

    def samples(self, steps: Iterator[bytes]) -> Iterator[Sample]:
        for number, block, is_whole in _blocks(steps, self._limits):
            quick = self._quick(block) if is_whole and self._open is None else None
            if quick is not None:
                yield quick
                continue
            for place, line in enumerate(block.split(b"\n")):
                yield from self._take_line(number + place, line)
            if is_whole:
                yield from self._end()
        yield from self._end()

    def _quick(self, block: bytes) -> Sample | None:
        """A header and nothing but frames after it; None for any other block."""
        first, _, body = block.partition(b"\n")
        header = header_of(first) if body else None
        if header is None or _frame_in(header) is not None:
            return None
        leaf, _, callers = body.partition(b"\n")
        leaf_ids = self._ids_of(leaf)
        if leaf_ids is None:
            return None
        caller_ids = self._ids_by_callers.get(callers) if callers else b""
        if caller_ids is None and (caller_ids := self._ids_of_callers(callers)) is None:
            return None
        self._check_frames(len(caller_ids) + len(leaf_ids))
        return Sample(header, caller_ids + leaf_ids)

    def _ids_of_callers(self, callers: bytes) -> bytes | None:
        parts = [self._ids_of(line) for line in callers.split(b"\n")]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        ids = self._ids_by_callers[callers] = b"".join(reversed(known))
        self._remember(len(callers) + len(ids))
        return ids

    def _take_line(self, number: int, line: bytes) -> Iterator[Sample]:
        if not line.strip():
            yield from self._end()
        elif line.startswith(b"#"):
            return
        elif (ids := self._ids_of(line)) is not None:
            self._take_frame(number, line, ids)
        elif (header := header_of(line)) is not None:
            yield from self._end()
            self._begin(header)
        elif (record := record_of(line)) is not None:
            yield from self._end()
            self.lost += record[1]
        else:
            self.profile.skip(number, _shown(line), "it is neither the head of a sample nor a frame")

    def _take_frame(self, number: int, line: bytes, ids: bytes) -> None:
        if self._open is None:
            if ids:
                self.profile.skip(number, _shown(line), "a frame without the head of its sample")
            return
        self._frames.append(ids)
        self._check_frames(len(self._frames) * _ID_BYTES)

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

    def _ids_of(self, line: bytes) -> bytes | None:
        """Frame ids that a line stands for, root first; None if it is no frame."""
        if line in self._ids_by_line:
            return self._ids_by_line[line]
        ids = self._ids_by_line[line] = self._new_ids(line)
        self._remember(len(line))
        return ids

    def _new_ids(self, line: bytes) -> bytes | None:
        # A head can look like a frame: `  dd 29776 666709.771979: cpu-clock:` begins with a hexadecimal number.
        if not line[:1].isspace() or header_of(line) is not None:
            return None
        frame = frame_of(line)
        if frame is not None:
            return self._ids(frame)
        return b"" if is_source_line(line) else None

    def _ids(self, frame: Frame) -> bytes:
        names = self._names(frame)
        longest = max(len(frame.symbol), len(frame.module))
        if longest > self._limits.name_bytes:
            raise LimitExceeded("length of a frame's name in bytes", limit=self._limits.name_bytes, value=longest)
        return array("i", map(self.profile.id_of, names)).tobytes()

    def _check_frames(self, id_bytes: int) -> None:
        limit = self._limits.stack_frames
        if id_bytes > limit * _ID_BYTES:
            raise LimitExceeded("number of frames in a stack", limit=limit, value=id_bytes // _ID_BYTES)

    def _remember(self, size: int) -> None:
        self._memo_bytes += size
        if self._memo_bytes > _MEMO_BYTES:
            self._ids_by_line.clear()
            self._ids_by_callers.clear()
            self._memo_bytes = 0


def _frame_in(header: Header) -> Frame | None:
    """The only one, of a sample on one line: its address stands where other events have arguments."""
    payload = header.payload
    return frame_of(payload) if payload and payload[:1] in b"0123456789abcdef" else None


def _blocks(steps: Iterator[bytes], limits: Limits) -> Iterator[tuple[int, bytes, bool]]:
    """What stands between blank lines, with the number of its first line, and whether this is the end of it."""
    number, rest = 1, b""
    for step in _with_plain_ends(as_utf8(steps)):
        *blocks, rest = (rest + step).split(b"\n\n")
        for block in blocks:
            after = _checked(number, block, limits)
            yield number, block, True
            number = after + 1
        if len(rest) > _BLOCK_BYTES and (place := rest.rfind(b"\n")) >= 0:
            after = _checked(number, rest[:place], limits)
            yield number, rest[:place], False
            number, rest = after, rest[place + 1 :]
        if len(rest) > limits.line_bytes:
            _checked(number, rest, limits)
    rest = rest.removesuffix(b"\n")
    _checked(number, rest, limits)
    yield number, rest, True


def _with_plain_ends(steps: Iterator[bytes]) -> Iterator[bytes]:
    held = b""  # half of a line end, or of a blank line, must not be judged alone
    for step in steps:
        step = held + step
        held = b"\r" if step.endswith(b"\r") else b""
        yield step[: len(step) - len(held)].replace(b"\r\n", b"\n")
    yield held


def _checked(number: int, block: bytes, limits: Limits) -> int:
    """The number of the line after it."""
    after = number + block.count(b"\n") + 1
    if after - 1 > limits.lines:
        raise LimitExceeded("number of lines", limit=limits.lines, value=limits.lines, line=limits.lines, at_least=True)
    if len(block) > limits.line_bytes:
        _check_lengths(number, block, limits.line_bytes)
    if b"\0" in block:
        line = number + block.count(b"\n", 0, block.index(b"\0"))
        raise MalformedProfile(f"line {line} holds a NUL byte: this is no text, or a damaged one")
    return after


def _check_lengths(number: int, block: bytes, limit: int) -> None:
    for place, line in enumerate(block.split(b"\n")):
        if len(line) > limit:
            what = "length of a line in bytes"
            raise LimitExceeded(what, limit=limit, value=limit, line=number + place, at_least=True)


def _shown(line: bytes) -> str:
    return line[:800].decode("utf-8", "replace").strip()[:200]
