"""Lines of strace to calls that are whole, pieces of calls, frames of a stack and signs of tasks."""

from __future__ import annotations

import re
from typing import NamedTuple


class Call(NamedTuple):
    """`text` is what stands between the parentheses; `result` is None for `?`, an end that was not seen."""

    name: str
    text: str
    result: int | None
    is_injected: bool


# Task, then up to two times: of -t, -tt, -ttt and -r in any combination.
_PREFIX = re.compile(
    r"\s*+(?:\[pid ++(\d{1,18})\] ++|(\d{1,18}) ++)?(?:\(?\+? *+(?:\d\d:\d\d:\d\d(?:\.\d++)?|\d++\.\d++)\)? ++){0,2}"
)
_CALL = re.compile(r"(\w+)\((.*)\)\s+= (\?|-?\d+|0x[0-9a-f]+)(| .*)")
_UNFINISHED = re.compile(r"(\w+)\((.*?) ?<unfinished \.\.\.>\s*")
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)")
FRAME_MARK = " > "
_ADDRESS = re.compile(r" ?\[0x([0-9a-f]{1,16})\].*")
_OFFSET = re.compile(r"\+0x[0-9a-f]{1,16}$")
_ATTACHED = re.compile(r"(?:strace: )?Process (\d{1,18}) attached(?: with \d+ threads)?\s*$")
_ENDED = re.compile(r"\+\+\+ (?:exited with|killed by|superseded by execve) .*")
SUMMARY = re.compile(r"% time +seconds +usecs/call +calls +errors +syscall")
_LARGEST = (1 << 64) - 1


def parted(line: str) -> tuple[int | None, str]:
    """The task that a line is of, where it tells, and the rest of it without times."""
    prefix = _PREFIX.match(line)
    if prefix is None:
        return None, line
    task = prefix[1] or prefix[2]
    return (int(task) if task else None), line[prefix.end() :]


def call_name(text: str) -> str:
    """Of a line that begins one; empty for any other."""
    name, parenthesis, _ = text.partition("(")
    return name if parenthesis and name.isidentifier() else ""


def call_of(text: str) -> Call | None:
    """The arguments end at the last `) = `: strings and paths in them can hold one too."""
    found = _CALL.fullmatch(text)
    if found is None:
        return None
    name, inner, result, rest = found.groups()
    return Call(name, inner, None if result == "?" else int(result, 0), "(INJECTED" in rest)


def unfinished_of(text: str) -> tuple[str, str] | None:
    """Name, and the arguments that were printed."""
    found = _UNFINISHED.fullmatch(text) if "<unfinished" in text else None
    return None if found is None else (found[1], found[2])


def resumed_of(text: str) -> tuple[str, str] | None:
    """Name, and what completes the unfinished line of the same task."""
    found = _RESUMED.fullmatch(text) if text.startswith("<") else None
    return None if found is None else (found[1], found[2])


def attached_task(text: str) -> tuple[str, int] | None:
    """A task that strace says it follows now, and what it had printed of a line when it said so."""
    found = _ATTACHED.search(text, max(len(text) - 100, 0))
    return None if found is None else (text[: found.start()], int(found[1]))


def is_end(text: str) -> bool:
    return _ENDED.fullmatch(text) is not None


def frame_name(line: str, *, is_leaf: bool) -> str | None:
    """The function; of one without a name, file and place in it, for a caller inside of the call."""
    place = line.rfind("[0x")
    address = _ADDRESS.fullmatch(line, place) if place >= 0 else None
    if address is None:
        return None
    file, _, name = line[len(FRAME_MARK) : place].rstrip().removesuffix(")").partition("(")
    if name:
        return _OFFSET.sub("", name)
    where = f"{max(int(address[1], 16) - (not is_leaf), 0):#x}"
    return f"{file.rpartition('/')[2]}+{where}" if file else where


def number_at(arguments: list[str], place: int) -> int | None:
    """One of the arguments, if it is a number that fits a register."""
    try:
        value = int(arguments[place], 0)
    except (ValueError, IndexError):
        return None
    return value if 0 <= value <= _LARGEST else None
