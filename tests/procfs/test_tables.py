"""Texts of /proc and pidstat to tables: equal to their golden twins."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer import protocol
from tracer.commands import tables
from tracer.procfs import read_table
from tracer.procfs.table import Table
from tracer.profile.errors import NotStacks, ProfileError
from tracer.profile.formats import read_profile

ROOT = Path(__file__).parents[2]
FORMATS = ("pidstat", "smaps", "meminfo")
GOLDEN = sorted(path for name in FORMATS for path in (ROOT / "tests" / "data" / name).glob("*.txt"))


def read(raw: bytes) -> Table:
    with pytest.raises(NotStacks) as found:
        read_profile(io.BytesIO(raw), resolve=protocol.value_type_named)
    return read_table(found.value)


def csv_of(table: Table) -> str:
    out = io.StringIO()
    tables.write(table, "csv", out)
    skipped = [f"# skipped {line.number}: {line.reason}\n" for line in table.skipped]
    return out.getvalue() + "".join(skipped)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_is_read_as_its_golden_twin_says(path: Path) -> None:
    table = read(path.read_bytes())

    assert table.format == path.parent.name
    assert csv_of(table) == path.with_suffix(".expected").read_text()


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
