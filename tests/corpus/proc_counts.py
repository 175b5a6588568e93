"""Counts of a table of numbers that were made apart, or by jc, checked against what tracer.procfs reads of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.files import read_numbers
from tracer.commands import tables
from tracer.procfs.table import Cell, Table
from tracer.profile.errors import EmptyProfile

_PIDSTAT_NAMES = {"minflt_s": "minflt/s", "majflt_s": "majflt/s", "percent_mem": "%mem", "vsz": "vsz", "rss": "rss"}
_KILOBYTES = ("vsz", "rss")
_SIZES = {"bytes": 1024, "pages": 1}


def meminfo(source: Path, want: Mapping[str, Any]) -> None:
    rows = {str(row["name"]): row for row in tables.listing(read_numbers(source))}
    if "fields" in want:
        assert len(rows) == want["fields"] + 1  # and what is used
        wanted = {**want["bytes"], "HugePages_Total": want["hugepages_total"]}
    else:
        wanted = {name: number * _SIZES[str(rows[name.lower()]["unit"])] for name, number in want.items()}
    assert {name: rows[name.lower()]["last"] for name in wanted} == wanted


def smaps(source: Path, want: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
    table = read_numbers(source)
    if not isinstance(want, Mapping):
        _check_mappings(table, want)
        return
    totals = {row["name"]: row["total"] for row in tables.listing(table) if row["total"] is not None}
    assert len(table.rows) == want["mappings"]
    assert totals == {name.lower(): kilobytes * 1024 for name, kilobytes in want["sum_kB"].items()}


def _check_mappings(table: Table, want: Sequence[Mapping[str, Any]]) -> None:
    for (keys, values), row in zip(table.rows, want, strict=True):
        found = {column.name: value for column, value in zip(table.columns, values, strict=False)}
        assert keys[:2] == (f"0x{row['start']}", f"0x{row['end']}")
        assert keys[-1] == (row.get("pathname") or "")
        assert [found[name.lower()] for name in ("Size", "Rss", "Pss", "Swap")] == [
            row[name] * 1024 for name in ("Size", "Rss", "Pss", "Swap")
        ]


def pidstat(source: Path, want: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
    of_memory = [row for row in want if "rss" in row] if not isinstance(want, Mapping) else want["memory_rows"]
    if not of_memory:
        with pytest.raises(EmptyProfile, match="run it with -r"):
            read_numbers(source)
    elif isinstance(want, Mapping):
        _check_tasks(read_numbers(source), want)
    else:
        _check_rows(read_numbers(source), of_memory)


def _check_tasks(table: Table, want: Mapping[str, Any]) -> None:
    rss_by_task: dict[tuple[Cell, ...], list[Cell]] = {}
    place = next((place for place, column in enumerate(table.columns) if column.name == "rss"), None)
    for keys, values in table.rows:
        rss_by_task.setdefault(keys[2:], []).append(None if place is None else values[place])
    assert len(table.rows) == want["memory_rows"]
    assert len(rss_by_task) == want["tasks"]
    for (_, task), found in zip(want["first"], islice(rss_by_task.values(), len(want["first"])), strict=True):
        assert len(found) == task["points"]
        assert [found[0], found[-1]] == [_bytes(task["rss_first"]), _bytes(task["rss_last"])]


def _check_rows(table: Table, want: Sequence[Mapping[str, Any]]) -> None:
    names = [column.name for column in table.columns]
    for (keys, values), row in zip(table.rows, want, strict=True):
        found = dict(zip(names, values, strict=True))
        assert keys[2] == row["pid"]
        assert keys[-1] == row["command"]
        for theirs, ours in _PIDSTAT_NAMES.items():
            assert found[ours] == row[theirs] * (1024 if theirs in _KILOBYTES else 1)


def _bytes(kilobytes: str | None) -> int | None:
    """Sizes for people are in MB."""
    if kilobytes is None:
        return None
    if kilobytes.endswith("M"):
        return round(float(kilobytes[:-1]) * 1024 * 1024)
    return int(kilobytes) * 1024
