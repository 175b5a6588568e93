"""Each file that another tool made of a source of the corpus is equal to ours, or differs as docs/corpus.md says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.files import name_of, peers
from tests.corpus.forms import FORMS
from tests.corpus.measures import MEASURES
from tests.corpus.table import differences, row_for, ways

PEERS = list(peers())
ROWS = differences()


@pytest.mark.parametrize("path", PEERS, ids=name_of)
def test_it_is_equal_or_differs_as_the_table_says(path: Path) -> None:
    row = row_for(name_of(path), ROWS)

    assert row is not None, "no row of docs/corpus.md tells how it is compared"
    assert MEASURES[row.compared](path, row.ways) == pytest.approx(row.differs, abs=0.05)


def test_each_difference_has_its_reason() -> None:
    assert [row.pattern for row in ROWS if bool(row.differs) > bool(row.reason)] == []


def test_the_table_names_ways_that_there_are() -> None:
    assert ways() == list(FORMS)
    assert {way for row in ROWS for way in row.ways} <= set(FORMS)


@pytest.mark.skipif(not PEERS, reason="no corpus lies beside the checkout")
def test_no_row_of_the_table_is_left_over() -> None:
    used = {id(row_for(name_of(path), ROWS)) for path in PEERS}

    assert [row.pattern for row in ROWS if id(row) not in used] == []
