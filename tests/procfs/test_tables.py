"""Texts of /proc and pidstat to tables: equal to their golden twins and to the counts that were made apart."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer import protocol
from tracer.commands import tables
from tracer.procfs import read_table
from tracer.procfs.table import Cell, Table
from tracer.profile.errors import EmptyProfile, NotStacks, ProfileError
from tracer.profile.formats import read_profile

ROOT = Path(__file__).parents[2]
FORMATS = ("pidstat", "smaps", "meminfo")
GOLDEN = sorted(path for name in FORMATS for path in (ROOT / "tests" / "data" / name).glob("*.txt"))
CORPUS = Path(os.environ.get("MEMFLAME_CORPUS") or ROOT.parent / "shared" / "corpus")


def read(raw: bytes) -> Table:
    with pytest.raises(NotStacks) as found:
        read_profile(io.BytesIO(raw), resolve=protocol.value_type_named)
    return read_table(found.value)


def csv_of(table: Table) -> str:
    out = io.StringIO()
    tables.write(table, "csv", out)
    skipped = [f"# skipped {line.number}: {line.reason}\n" for line in table.skipped]
    return out.getvalue() + "".join(skipped)


def counted(folder: str) -> list[Any]:
    """Files of the corpus with the counts that were made apart; none where it does not lie beside us."""
    paths = sorted((CORPUS / folder).glob("*.totals.json"))
    return [pytest.param(path, json.loads(path.read_text()), id=path.name[:-12]) for path in paths]


def read_counted(totals: Path) -> Table:
    return read(totals.with_name(totals.name.removesuffix(".totals.json")).read_bytes())


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_is_read_as_its_golden_twin_says(path: Path) -> None:
    table = read(path.read_bytes())

    assert table.format == path.parent.name
    assert csv_of(table) == path.with_suffix(".expected").read_text()


@pytest.mark.parametrize(("path", "want"), counted("smaps"))
def test_the_sums_of_smaps_are_those_that_were_counted_apart(path: Path, want: Mapping[str, Any]) -> None:
    table = read_counted(path)

    totals = {row["name"]: row["total"] for row in tables.listing(table) if row["total"] is not None}
    assert len(table.rows) == want["mappings"]
    assert totals == {name.lower(): kilobytes * 1024 for name, kilobytes in want["sum_kB"].items()}


@pytest.mark.parametrize(("path", "want"), counted("meminfo"))
def test_meminfo_has_the_values_that_were_counted_apart(path: Path, want: Mapping[str, Any]) -> None:
    last = {str(row["name"]): row["last"] for row in tables.listing(read_counted(path))}

    assert len(last) == want["fields"] + 1  # and what is used
    assert {name: last[name.lower()] for name in want["bytes"]} == want["bytes"]
    assert last["hugepages_total"] == want["hugepages_total"]


@pytest.mark.parametrize(("path", "want"), counted("pidstat"))
def test_pidstat_has_the_rows_that_were_counted_apart(path: Path, want: Mapping[str, Any]) -> None:
    if not want["memory_rows"]:
        with pytest.raises(EmptyProfile, match="run it with -r"):
            read_counted(path)
        return

    table = read_counted(path)
    rss_by_task: dict[tuple[Cell, ...], list[Cell]] = {}
    place = next((place for place, column in enumerate(table.columns) if column.name == "rss"), None)
    for keys, values in table.rows:
        rss_by_task.setdefault(keys[2:], []).append(None if place is None else values[place])

    assert len(table.rows) == want["memory_rows"]
    assert len(rss_by_task) == want["tasks"]
    for (_, task), (found_task, found) in zip(want["first"], rss_by_task.items(), strict=False):
        assert len(found) == task["points"], found_task
        assert [found[0], found[-1]] == [kilobytes(task["rss_first"]), kilobytes(task["rss_last"])]


def kilobytes(text: str | None) -> int | None:
    if text is None:
        return None
    return round(float(text[:-1]) * 1024 * 1024) if text.endswith("M") else int(text) * 1024


def test_a_table_lists_a_total_only_where_rows_are_parts_of_one_moment(data: Callable[[str], bytes]) -> None:
    smaps = {row["name"]: row["total"] for row in tables.listing(read(data("smaps/some-mappings.txt")))}
    pidstat = tables.listing(read(data("pidstat/one-process-with-average.txt")))

    assert smaps["pss"] is not None
    assert smaps["kernelpagesize"] is None
    assert [row["total"] for row in pidstat] == [None] * 5
    assert [row["last"] for row in pidstat] == [3427.0, 0.0, 207028 * 1024, 51012 * 1024, 0.21]


def test_sizes_for_people_are_said_to_be_rounded(data: Callable[[str], bytes]) -> None:
    assert read(data("pidstat/sizes-for-people.txt")).notes == [
        "The sizes are rounded to one decimal, as --human prints them."
    ]


@pytest.fixture
def data() -> Callable[[str], bytes]:
    return lambda name: (ROOT / "tests" / "data" / name).read_bytes()


@given(path=st.sampled_from(GOLDEN), place=st.floats(0, 1), piece=st.binary(max_size=8))
def test_a_damaged_file_is_read_or_refused_but_never_a_crash(path: Path, place: float, piece: bytes) -> None:
    raw = path.read_bytes()
    start = int(place * len(raw))
    try:
        read_profile(io.BytesIO(raw[:start] + piece + raw[start + 4 :]), resolve=protocol.value_type_named)
    except NotStacks as found:
        try:
            assert read_table(found).rows
        except ProfileError as error:
            assert str(error)
    except ProfileError as error:
        assert str(error)
