"""docs/corpus.md to rows: what each file is compared by, and how much it differs, with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from tests.corpus.files import ROOT


@dataclass(frozen=True)
class Difference:
    pattern: str
    compared: str
    ways: tuple[str, ...]
    differs: float
    reason: str


@dataclass(frozen=True)
class Outcome:
    pattern: str
    outcome: str  # "read", or the name of an error
    reason: str


Row = TypeVar("Row", Difference, Outcome)


def ways() -> list[str]:
    return [cells[0] for cells in _rows("Ways of writing names")]


def differences() -> list[Difference]:
    rows = _rows("Differences")
    return [
        Difference(pattern.strip("`"), compared, tuple(filter(None, re.split(", ?", names))), float(differs), reason)
        for pattern, compared, names, differs, reason in rows
    ]


def outcomes() -> list[Outcome]:
    return [
        Outcome(pattern.strip("`"), outcome, reason) for pattern, outcome, reason in _rows("Sources without counts")
    ]


def row_for(name: str, rows: Sequence[Row]) -> Row | None:
    """The first whose pattern matches."""
    return next((row for row in rows if fnmatchcase(name, row.pattern)), None)


def _rows(heading: str) -> Iterator[list[str]]:
    section = (ROOT / "docs" / "corpus.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip() for cell in line.strip().strip("|").split("|")]
