"""Lines of `perf script` text to headers of samples and names of frames."""

from __future__ import annotations

import re
from typing import NamedTuple


class Header(NamedTuple):
    """What stands in front of a stack. Without a pid the one number is the thread's."""

    command: bytes
    pid: int
    tid: int
    period: int | None
    event: bytes
    payload: bytes  # of a tracepoint or uprobe; or the only frame, when perf writes a sample on one line
    has_time: bool


class Frame(NamedTuple):
    address: bytes  # hexadecimal
    symbol: bytes  # without offset; empty if unknown
    module: bytes  # empty if unknown or not written


# Possessive and bounded repeats: a hostile line costs time in proportion to its length, no more.
_TASK = rb"(\S.{0,99}?)\s++(-?\d{1,18}+)(?:/(-?\d{1,18}+))?\s++(?:\[\d++\]\s++)?"  # command pid/tid [cpu]
_EVENT = rb"(?:(\d{1,18}+)\s++)?([!-~]{1,190}?):"  # period event:
_HEADER = re.compile(rb"\s*+" + _TASK + rb"\d++\.\d++:\s++" + _EVENT + rb"(?=\s|$)\s*+(.*)", re.DOTALL)
_OLD_HEADER = re.compile(_TASK + _EVENT + rb"()\s*+$")  # of perf before 3.x, without the time
_RECORD = re.compile(rb"\bPERF_RECORD_([A-Z0-9_]+)(?:\s+lost\s+(\d{1,18})\b)?")
_ADDRESS = re.compile(rb"[0-9a-f]{1,16}")
_OFFSET = re.compile(rb"\+0x[0-9a-f]{1,16}$")
_PLAIN_FRAME = re.compile(rb"\s+[0-9a-f]{1,16} (.+)\+0x[0-9a-f]{1,16} \([^()]*\)")
_SOURCE_LINE = re.compile(rb"  (?:\S.*)?(?::\d+(?: \(inlined\))?|\[[0-9a-f]+\])$")  # of `-F +srcline`, below each frame
_UNKNOWN = b"[unknown]"
_DELETED = b" (deleted)"


def header_of(line: bytes) -> Header | None:
    timed = _HEADER.match(line)
    found = timed or _OLD_HEADER.match(line)
    if found is None:
        return None
    command, pid, tid, period, event, payload = found.groups()
    amount = int(period) if period else None
    return Header(command, int(pid), int(tid or pid), amount, event, payload.rstrip(), timed is not None)


def may_be_header(line: bytes) -> bool:
    """False for nearly all frames, at a small part of the price of `header_of`."""
    return b": " in line or b":\t" in line or line.rstrip().endswith(b":")


def frame_of(line: bytes) -> Frame | None:
    """Of a line that begins with white space, or of the rest of a header."""
    address, _, rest = line.strip().replace(b"\t", b" ", 1).partition(b" ")
    if _ADDRESS.fullmatch(address) is None:
        return None
    symbol, module = _parted(rest.strip())
    return Frame(address, b"" if symbol == _UNKNOWN else symbol, b"" if module == _UNKNOWN else module)


def plain_symbol(line: bytes) -> bytes:
    """Of most frames, what `frame_of` finds; of other lines something that is no symbol of any frame."""
    found = _PLAIN_FRAME.fullmatch(line)
    return found[1] if found is not None else b""


def is_source_line(line: bytes) -> bool:
    return _SOURCE_LINE.match(line) is not None


def record_of(line: bytes) -> tuple[str, int] | None:
    """Name of one of perf's own records, which are no samples, and how many it says are lost."""
    found = _RECORD.search(line, 0, 400)
    return None if found is None else (found[1].decode(), int(found[2] or 0))


def names_of(frame: Frame) -> tuple[str, ...]:
    """As other tools name frames, root first: a symbol of just-in-time code can hold what was inlined into it."""
    if not frame.symbol:
        return (_module_name(frame.module),)
    symbol = _text(frame.symbol)
    if "->" in symbol and frame.module.endswith(b".map"):
        outer, *inlined = symbol.split("->")
        return (outer, *(f"{name}_[i]" for name in inlined))
    return (symbol,)


def names_or_offsets(frame: Frame) -> tuple[str, ...]:
    """Like `names_of`, but what has no name keeps its place in its file, where symbols can be found later."""
    if frame.symbol or not frame.module or frame.module.startswith(b"["):
        return names_of(frame)
    return (f"{_base_name(frame.module)}+0x{int(frame.address, 16):x}",)


def _module_name(module: bytes) -> str:
    if not module:
        return "[unknown]"
    return _text(module) if module.startswith(b"[") else f"[{_base_name(module)}]"


def _base_name(module: bytes) -> str:
    return _text(module).rpartition("/")[2]


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _parted(text: bytes) -> tuple[bytes, bytes]:
    """Symbol and module. Both may hold spaces and parentheses: the module begins at the last ` (`."""
    if not text.endswith(b")"):
        return _OFFSET.sub(b"", text), b""
    end = len(text) - 1
    place = text.rfind(b" (", 0, end - len(_DELETED) if text.endswith(_DELETED + b")") else end)
    if place < 0:
        return (b"", text[1:end]) if text.startswith(b"(") else (_OFFSET.sub(b"", text), b"")
    return _OFFSET.sub(b"", text[:place]), _OFFSET.sub(b"", text[place + 2 : end])
