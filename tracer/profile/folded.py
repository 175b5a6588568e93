"""Folded stacks: one line per stack, frames root first, then its value, or one value per column under our header.

# memflame-folded 1
# values: outstanding_bytes outstanding_objects
main;load_index;malloc 4096 1
"""

from __future__ import annotations

import io
import json
import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from typing import BinaryIO, TextIO, cast

from tracer.profile.errors import EmptyProfile, LimitExceeded, MalformedProfile, UnrecognizedFormat
from tracer.profile.model import MAX_VALUE, Limits, Number, Profile, SkippedLine, ValueType

MAGIC = "# memflame-folded"
HEADER = f"{MAGIC} 1"
PLAIN_VALUE = "value"  # the name of a column that nothing names
MAX_COLUMNS = 64
MAX_VALUE_NAME = 200  # characters; the site's column has as many
MAX_CAPTURE_BYTES = 1 << 20

Resolve = Callable[[str, str | None], ValueType]
"""The value type of a name, as counted by a collector if one is known: `protocol.value_type_named`."""


# --- writing ----------------------------------------------------------------------------------------------------------


def write_folded(profile: Profile, out: TextIO | BinaryIO) -> None:
    """Write our form: all value types, sorted by stack, so that equal profiles are equal bytes."""
    if isinstance(out, io.TextIOBase):
        out.writelines(_lines(profile))
    else:
        cast(BinaryIO, out).writelines(line.encode() for line in _lines(profile))


def _lines(profile: Profile) -> Iterator[str]:
    yield f"{HEADER}\n"
    yield f"# values: {' '.join(_header_name(known) for known in profile.value_types)}\n"
    if profile.capture:
        yield f"# capture: {_json(profile.capture)}\n"
    for stack, values in sorted(profile.rows()):
        text = ";".join(map(_escape, stack))
        mark = "\\" if text.startswith("#") else ""  # or it would be read as a comment
        yield f"{mark}{text} {' '.join(map(number_text, values))}\n"


def number_text(value: Number) -> str:
    """The shortest text that reads back as the same number, never with an exponent; a float keeps its point."""
    if isinstance(value, int):
        return str(value)
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else f"{text}.0"


def _header_name(known: ValueType) -> str:
    if not known.name or known.name.split() != [known.name]:
        raise ValueError(f"value type name {known.name!r} holds white space")
    return known.name


def _escape(name: str) -> str:
    return name.replace("\\", "\\\\").replace(";", "\\;").replace("\n", "\\n")


def _json(capture: Mapping[str, object]) -> str:
    text = json.dumps(dict(capture), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


# --- reading ----------------------------------------------------------------------------------------------------------


def read_folded(
    lines: Iterable[bytes], *, resolve: Resolve, limits: Limits | None = None, columns: int | None = None
) -> Profile:
    """Read UTF-8 folded text, line by line: our form, or one value a line (`columns` values, when told).

    A line that is no stack with its value is skipped and counted, comments included; blank lines are not counted.
    Lines are bounded by whoever makes them; every other limit is watched here.
    """
    numbered = enumerate(lines, 1)
    first = next(numbered, None)
    if first is None:
        raise EmptyProfile("the file is empty")
    limits = limits or Limits()
    if first[1].startswith(MAGIC.encode()):
        return _read_ours(first[1], numbered, resolve, limits)
    return _read_plain(chain([first], numbered), resolve, limits, columns or 1)


def _read_ours(first: bytes, numbered: Iterator[tuple[int, bytes]], resolve: Resolve, limits: Limits) -> Profile:
    if first.strip() != HEADER.encode():
        raise MalformedProfile(f"line 1 is {_shown(first)!r}, this version reads {HEADER!r}")
    names, capture, rest = _read_header(numbered)
    collector = capture.get("collector")
    value_types = tuple(resolve(name, collector if isinstance(collector, str) else None) for name in names)
    reader = _Reader(value_types, limits, is_ours=True)
    for number, line in rest:
        _check_line(number, line, limits)
        reader.take_ours(number, line)
    profile = reader.finish(may_be_empty=collector is not None)
    profile.capture = {**capture, **_with_notes(capture, reader.notes())}
    return profile


def _read_header(
    numbered: Iterator[tuple[int, bytes]],
) -> tuple[list[str], Mapping[str, object], Iterator[tuple[int, bytes]]]:
    """Names of the value types, capture, and the lines after the header."""
    names: list[str] = []
    capture: Mapping[str, object] = {}
    for number, line in numbered:
        if line.startswith(b"# values:"):
            names = _read_names(number, line.partition(b":")[2])
        elif line.startswith(b"# capture:"):
            capture = _read_capture(number, line.partition(b":")[2])
        elif not line.startswith(b"#"):
            numbered = chain([(number, line)], numbered)
            break
    if not names:
        raise MalformedProfile(f"no line '# values: …' follows {HEADER!r}")
    return names, capture, numbered


def _read_names(number: int, text: bytes) -> list[str]:
    names = text.decode("utf-8", "replace").split()
    if len(names) > MAX_COLUMNS:
        raise LimitExceeded("number of value types", limit=MAX_COLUMNS, value=len(names), line=number)
    longest = max(map(len, names), default=0)
    if longest > MAX_VALUE_NAME:
        raise LimitExceeded("length of a value type's name", limit=MAX_VALUE_NAME, value=longest, line=number)
    if len(set(names)) != len(names) or any("\0" in name for name in names):
        raise MalformedProfile(f"line {number}: value types are named twice or hold a NUL: {' '.join(names)!r}")
    return names


def _read_capture(number: int, text: bytes) -> Mapping[str, object]:
    if len(text) > MAX_CAPTURE_BYTES:
        raise LimitExceeded("size of the capture line", limit=MAX_CAPTURE_BYTES, value=len(text), line=number)
    try:
        capture = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(capture, ensure_ascii=False).encode()  # lone surrogates fit no database
    except (ValueError, RecursionError) as error:
        raise MalformedProfile(f"line {number}: the capture is not JSON: {error}") from None
    if not isinstance(capture, dict) or b"\\u0000" in text:
        raise MalformedProfile(f"line {number}: the capture is not a JSON object, or holds a NUL")
    return capture


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _read_plain(rows: Iterable[tuple[int, bytes]], resolve: Resolve, limits: Limits, columns: int) -> Profile:
    names = [PLAIN_VALUE] if columns == 1 else [f"{PLAIN_VALUE}_{place}" for place in range(1, columns + 1)]
    reader = _Reader(tuple(resolve(name, None) for name in names), limits, is_ours=False)
    for number, line in rows:
        _check_line(number, line, limits)
        reader.take_plain(number, line)
    profile = reader.finish()
    profile.capture = _with_notes({}, reader.notes())
    return profile


def _check_line(number: int, line: bytes, limits: Limits) -> None:
    if number > limits.lines:
        raise LimitExceeded("number of lines", limit=limits.lines, value=limits.lines, line=number, at_least=True)
    if b"\0" in line:
        raise MalformedProfile(f"line {number} holds a NUL byte: this is no text, or a damaged one")


def _with_notes(capture: Mapping[str, object], notes: list[str]) -> dict[str, object]:
    old = capture.get("notes")
    return {"notes": [*(old if isinstance(old, list) else []), *notes]} if notes else {}


def _shown(line: bytes) -> str:
    return line[:800].decode("utf-8", "replace").strip()[:200]


_BYTES_NAME = re.compile(r"b(['\"])(.+)\1", re.DOTALL)


class _FrameKeys(dict[bytes, bytes]):
    """The bytes of a frame's id by the bytes of its name: a known name costs one look-up in C."""

    def __init__(self, profile: Profile, limit: int, *, has_bytes: bool) -> None:
        self.profile, self.limit, self.damaged = profile, limit, 0
        self.has_bytes = has_bytes  # some names may be as Python 3 shows bytes: old `stackcount -f` wrote them so

    def __missing__(self, raw: bytes) -> bytes:
        if len(raw) > self.limit:
            raise LimitExceeded("length of a frame's name in bytes", limit=self.limit, value=len(raw))
        name = raw.decode("utf-8", "replace")
        self.damaged += name.encode() != raw
        if self.has_bytes and (shown := _BYTES_NAME.fullmatch(name)):
            name = shown[2]
        key = self[raw] = array("i", [self.profile.id_of(name)]).tobytes()
        return key


class _Reader:
    """Takes lines into a profile and watches the limits."""

    def __init__(self, value_types: tuple[ValueType, ...], limits: Limits, *, is_ours: bool) -> None:
        self.profile = Profile(tuple(replace(known, is_float=False) for known in value_types))
        self.limits = limits
        self.is_ours = is_ours
        self.keys = _FrameKeys(self.profile, limits.name_bytes, has_bytes=not is_ours)
        self.amounts: list[Number] = [0] * len(value_types)  # of |value|: no sum of some of them can be larger
        self.signed = [known.is_signed for known in value_types]
        self.frames = 0
        self.last_stack, self.last_key = b"", b""

    def take_ours(self, number: int, line: bytes) -> None:
        line = line.rstrip(b"\r\n")
        if not line:
            return
        if line.startswith(b"#"):
            return self.profile.skip(number, _shown(line), "a comment")
        stack, *texts = line.rsplit(b" ", len(self.amounts))
        self._take(number, line, stack, texts)

    def take_plain(self, number: int, line: bytes) -> None:
        if not self.profile.row_by_key:
            line = _without_banner(line)
        parts = line.rsplit(None, len(self.amounts))
        if not parts:
            return
        if line.startswith((b"#", b"//")):
            return self.profile.skip(number, _shown(line), "a comment")
        # heaptrack_print ends each stack with a semicolon: an empty last frame that nobody called.
        stack = parts[0].rstrip(b";")
        if not stack:
            return self.profile.skip(number, _shown(line), "it has no frame")
        self._take(number, line, stack, parts[1:])

    def _take(self, number: int, line: bytes, stack: bytes, texts: list[bytes]) -> None:
        values = [int(text) if text.isdigit() and len(text) < 19 else _unusual_number(text) for text in texts]
        if len(values) != len(self.amounts) or None in values:
            return self.profile.skip(number, _shown(line), f"expected {self._wanted()} at its end")
        checked = [self._watch(number, place, value) for place, value in enumerate(cast(list[Number], values))]
        try:
            key = self._key(stack)
        except LimitExceeded as error:
            raise LimitExceeded(error.what, limit=error.limit, value=error.value, line=number) from None
        if self.profile.add_key(key, checked):
            self._watch_frames(number, len(key) // _ID_BYTES)

    def _key(self, stack: bytes) -> bytes:
        """The stack's frame ids; those of the frames it shares with the line before are taken from there.

        Most files are sorted, and looking names up is most of the work of reading.
        """
        if self.is_ours and b"\\" in stack:
            frames = _split_escaped(stack)
            self._check_frames(len(frames))
            return self._joined(frames)
        whole = stack.rfind(b";", 0, _shared_bytes(stack, self.last_stack)) + 1  # after the last whole frame shared
        if len(stack) > self.limits.stack_frames:  # only then can there be too many, and splitting is not free
            self._check_frames(stack.count(b";") + 1)
        shared = self._key_before(whole) if whole else b""
        self.last_stack, self.last_key = stack, shared + self._joined(stack[whole:].split(b";"))
        return self.last_key

    def _key_before(self, place: int) -> bytes:
        """The key of the last stack's frames that end before this place of its text."""
        return self.last_key[: -_ID_BYTES * (self.last_stack.count(b";", place) + 1)]

    def _joined(self, frames: list[bytes]) -> bytes:
        return b"".join(map(self.keys.__getitem__, frames))

    def _check_frames(self, count: int) -> None:
        if count > self.limits.stack_frames:
            raise LimitExceeded("number of frames in a stack", limit=self.limits.stack_frames, value=count)

    def _watch_frames(self, number: int, count: int) -> None:
        self.frames += count
        if self.frames > self.limits.frames:
            what = "number of frames in all stacks"
            raise LimitExceeded(what, limit=self.limits.frames, value=self.frames, line=number)

    def _watch(self, number: int, place: int, value: Number) -> Number:
        """The value as it is added: sums stay within int64, and the first fraction turns the column to float64."""
        column = self.profile.columns[place]
        if isinstance(value, float) and column.typecode == "q":
            if self.is_ours or not value.is_integer():
                self.profile.columns[place] = column = array("d", column)
            else:
                value = int(value)  # 31.0 of a tool that writes all numbers so
        self.amounts[place] += abs(value)
        if value < 0:
            self.signed[place] = True
        if column.typecode == "q" and self.amounts[place] > MAX_VALUE:
            what = "sum of the values" if abs(value) <= MAX_VALUE else "value"
            raise LimitExceeded(what, limit=MAX_VALUE, value=int(self.amounts[place]), line=number)
        if not math.isfinite(self.amounts[place]):
            raise MalformedProfile(f"line {number}: the values are too large to be added up")
        return value

    def _wanted(self) -> str:
        count = len(self.amounts)
        return "a value" if count == 1 else f"{count} values"

    def notes(self) -> list[str]:
        damaged = self.keys.damaged
        return [f"{damaged:,} frame names hold bytes that are not UTF-8, shown as \ufffd"] if damaged else []

    def finish(self, *, may_be_empty: bool = False) -> Profile:
        """A recording may be empty: ten seconds without a call of brk() are an answer; a file of others may not."""
        profile = self.profile
        if not profile.row_by_key and not (may_be_empty and not profile.skipped_lines):
            raise _nothing_read(profile, is_ours=self.is_ours)
        if not self.is_ours and _is_other_text(profile):
            raise _nothing_read(profile, is_ours=False)
        profile.value_types = tuple(
            replace(known, is_signed=is_signed, is_float=column.typecode == "d")
            for known, is_signed, column in zip(profile.value_types, self.signed, profile.columns, strict=True)
        )
        return profile


_ID_BYTES = array("i").itemsize


def _shared_bytes(text: bytes, other: bytes) -> int:
    """Length of the common prefix, in a few comparisons of halves."""
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if other.startswith(text[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _split_escaped(stack: bytes) -> list[bytes]:
    r"""Split at `;` but not at `\;`. NUL can stand in for what was escaped, since no line holds one."""
    marked = stack.replace(b"\\\\", b"\0b").replace(b"\\;", b"\0s").replace(b"\\n", b"\0n").replace(b"\\#", b"#")
    if b"\0" not in marked:
        return marked.split(b";")
    return [frame.replace(b"\0n", b"\n").replace(b"\0s", b";").replace(b"\0b", b"\\") for frame in marked.split(b";")]


def _without_banner(line: bytes) -> bytes:
    """What `stackcount -f` prints before the first stack is no bad line: `Tracing …`, and `^C` glued to the stack."""
    return b"" if line.startswith(b"Tracing ") and b";" not in line else line.removeprefix(b"^C")


_NUMBER = re.compile(rb"-?[0-9]+(\.[0-9]*)?")
_MAX_DIGITS = 400  # the smallest float64 has 342 with its zeros


def _unusual_number(text: bytes) -> Number | None:
    """A negative, fractional or very large number, or none at all."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if len(text) > _MAX_DIGITS:
        return math.inf
    return float(text) if match[1] else int(text)


def _is_other_text(profile: Profile) -> bool:
    """Lines of prose and of tables end in numbers too; of a file of stacks most lines are some, or one has a caller."""
    if profile.skipped_lines <= profile.stack_count or not _bad_lines(profile):
        return False
    return all(len(key) == _ID_BYTES for key in profile.row_by_key)


def _nothing_read(profile: Profile, *, is_ours: bool) -> EmptyProfile | UnrecognizedFormat:
    bad = _bad_lines(profile)
    if is_ours and not bad:
        return EmptyProfile("no stack was recorded: nothing that is counted here happened meanwhile")
    if is_ours or not bad:
        return EmptyProfile(f"the file holds no stack; {profile.skipped_lines:,} lines were skipped")
    found = (
        f"{profile.stack_count:,} of {profile.stack_count + profile.skipped_lines:,} lines are"
        if profile.stack_count
        else "no line is"
    )
    return UnrecognizedFormat(
        f"{found} a stack with its value; line {bad[0].number} is {bad[0].text!r}: {bad[0].reason}"
    )


def _bad_lines(profile: Profile) -> list[SkippedLine]:
    return [line for line in profile.skipped if line.reason != "a comment"]
