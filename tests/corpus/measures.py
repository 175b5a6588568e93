"""What another tool made of a file, next to what we make of it, to how much the two differ."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.corpus.files import read, source_of, totals_of
from tests.corpus.forms import Values, folded, in_forms
from tracer.profile.errors import ProfileError
from tracer.profile.export.folded import plain_stack
from tracer.profile.model import Profile

Measure = Callable[[Path, tuple[str, ...]], float]


def _stacks(path: Path, ways: tuple[str, ...]) -> float:
    profile = read(source_of(path))
    return _stacks_that_differ(path, ways, _values(profile, [_column(path, profile)]))


def _stacks_of_all_events(path: Path, ways: tuple[str, ...]) -> float:
    """The tool makes one graph of them."""
    profile = read(source_of(path))
    calls = [column for column, known in enumerate(profile.value_types) if not known.name.endswith(".bytes")]
    return _stacks_that_differ(path, ways, _values(profile, calls))


def _stacks_that_differ(path: Path, ways: tuple[str, ...], values: Values) -> float:
    theirs = in_forms(folded(_text(path)), ways, ours=False)
    ours = in_forms(values, ways, ours=True)
    return sum(theirs[stack] != ours[stack] for stack in theirs.keys() | ours.keys())


def _total(path: Path, _ways: tuple[str, ...]) -> float:
    profile = read(source_of(path))
    return profile.total(_column(path, profile)) - _total_in(_text(path))


def _total_of_whole_numbers(path: Path, _ways: tuple[str, ...]) -> float:
    """The tool cuts the fraction of each row."""
    profile = read(source_of(path))
    return _beyond_rounding(profile.total(_column(path, profile)), _total_in(_text(path)), profile.stack_count)


def _total_in(text: str) -> float:
    """Of jeprof's table, of a picture, or of folded text."""
    if found := re.search(r"Total: (\d+) (?:B|objects)|<title>all \(([\d,]+) samples, 100%", text):
        return int((found[1] or found[2]).replace(",", ""))
    return sum(folded(text).values())


def _profile(path: Path, _ways: tuple[str, ...]) -> float:
    """Text of the pprof library: its rows have a value for each value type, objects first."""
    rows = re.findall(r"^ *(\d+) +(\d+): [\d ]+$", _text(path).partition("Samples:")[2], re.MULTILINE)
    ours = totals_of(read(source_of(path)))
    return ours[list(ours)[0]] - sum(int(row[1]) for row in rows)


def _report(path: Path, _ways: tuple[str, ...]) -> float:
    return _massif_report(path) if "ms_print" in path.name else _heaptrack_report(path)


def _massif_report(path: Path) -> float:
    """Of the snapshot that is marked as peak: bytes in use of all, in the fourth column."""
    text = _text(path)
    peak = re.search(r"(\d+) \(peak\)", text)
    try:
        ours = read(source_of(path)).total()
    except ProfileError:
        return 0 if "Detailed snapshots: []" in text else -1
    number = peak[1] if peak else _largest_detailed(text)
    row = re.search(rf"^ *{number} +[\d,]+ +[\d,]+ +([\d,]+)", text, re.MULTILINE)
    assert row is not None
    return ours - int(row[1].replace(",", ""))


def _largest_detailed(text: str) -> str:
    found = re.search(r"Detailed snapshots: \[([\d, ]+)\]", text)
    assert found is not None
    return found[1].split(", ")[-1]


def _heaptrack_report(path: Path) -> float:
    """Its counts are exact, its sizes are rounded to two digits."""
    text, ours = _text(path), totals_of(read(source_of(path)))
    calls = re.search(r"^calls to allocation functions: (\d+)", text, re.MULTILINE)
    temporary = re.search(r"^temporary memory allocations: (\d+)", text, re.MULTILINE)
    peak = re.search(r"^peak heap memory consumption: ([\d.]+)([KM])", text, re.MULTILINE)
    assert calls and temporary and peak
    size = float(peak[1]) * {"K": 1000, "M": 1_000_000}[peak[2]]
    assert abs(ours["peak_bytes"] - size) <= size / 100
    return ours["allocations"] - int(calls[1]) + ours["temporary"] - int(temporary[1])


def _server(path: Path, _ways: tuple[str, ...]) -> float:
    """What a database server computes of its own dump; its rounding is told."""
    want, ours = json.loads(_text(path)), totals_of(read(source_of(path)))
    kind = "raw" if ours["inuse_objects"] == want["raw_objects"] else "corrected"
    return max(
        _beyond_rounding(ours["inuse_bytes"], want[f"{kind}_bytes"], 7),
        _beyond_rounding(ours["inuse_objects"], want[f"{kind}_objects"], 7),
    )


def _refused(path: Path, _ways: tuple[str, ...]) -> float:
    try:
        read(source_of(path))
    except ProfileError:
        return 0
    return 1


def _profile_of_its_own(path: Path, _ways: tuple[str, ...]) -> float:
    return 0 if read(path).stack_count else 1


def _difference(path: Path, _ways: tuple[str, ...]) -> float:
    return _lines_that_differ(path)


def _difference_normalized(path: Path, _ways: tuple[str, ...]) -> float:
    return _lines_that_differ(path, "--normalize")


def _lines_that_differ(path: Path, *options: str) -> float:
    sides = source_of(path), path.with_name("inferno-after.txt")
    command = [sys.executable, "-m", "tracer", "diff", *options, *map(str, sides)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    ours, theirs = _sides(done.stdout), _sides(_text(path))
    return sum(ours.get(stack) != theirs.get(stack) for stack in ours.keys() | theirs.keys())


def _sides(text: str) -> dict[str, tuple[float, ...]]:
    rows = (line.rsplit(" ", 2) for line in text.splitlines())
    return {stack: (float(before), float(after)) for stack, before, after in rows}


def _values(profile: Profile, columns: list[int]) -> Values:
    values: Values = Counter()
    for stack, numbers in profile.rows():
        if total := sum(numbers[column] for column in columns):
            values[tuple(plain_stack(stack).split(";"))] += total  # type: ignore[assignment]
    return values


def _column(path: Path, profile: Profile) -> int:
    """The value type that the file's name tells; the first one else."""
    words = path.name.replace("space", "bytes").replace("peak", "peak_bytes").replace("leaked", "leaked_bytes")
    parts = words.removeprefix(source_of(path).name).split(".")
    for column, known in enumerate(profile.value_types):
        if known.name.partition("/")[0] in parts:
            return column
    return 0


def _beyond_rounding(ours: float, theirs: float, rows: int) -> float:
    return 0 if abs(ours - theirs) < rows else ours - theirs


def _text(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8", "replace")


MEASURES: dict[str, Measure] = {
    "stacks": _stacks,
    "stacks of all events": _stacks_of_all_events,
    "total": _total,
    "total of whole numbers": _total_of_whole_numbers,
    "profile": _profile,
    "profile of its own": _profile_of_its_own,
    "report": _report,
    "server": _server,
    "refused": _refused,
    "difference": _difference,
    "difference, normalized": _difference_normalized,
}
