"""A profile to the table of its functions, as comma-separated values."""

from __future__ import annotations

import csv
from typing import TextIO

from tracer.profile.model import Number, Profile

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run what begins so


def write_table(profile: Profile, out: TextIO) -> None:
    """A row a function, by falling total of the first value type: self and total of each value type.

    A function that calls itself counts once in its total.
    """
    width = len(profile.value_types)
    own: dict[str, list[Number]] = {}
    total: dict[str, list[Number]] = {}
    for stack, values in profile.rows():
        _add(own, stack[-1], values)
        for name in dict.fromkeys(stack):
            _add(total, name, values)
    writer = csv.writer(out)
    names = [known.name for known in profile.value_types]
    writer.writerow(["function", *(f"{name} {side}" for name in names for side in ("self", "total"))])
    for name in sorted(total, key=lambda name: (-total[name][0], name)):
        numbers = zip(own.get(name, [0] * width), total[name], strict=True)
        writer.writerow([_cell(name), *(number for pair in numbers for number in pair)])


def _add(sums: dict[str, list[Number]], name: str, values: list[Number]) -> None:
    known = sums.get(name)
    sums[name] = list(values) if known is None else [old + new for old, new in zip(known, values, strict=True)]


def _cell(name: str) -> str:
    return f"'{name}" if name.startswith(_FORMULA) else name
