"""Each source of the corpus comes to what was counted apart from any tool, or ends as docs/corpus.md says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.counts import check
from tests.corpus.files import counts as counts_of_corpus
from tests.corpus.files import name_of, read, source_of, sources
from tests.corpus.table import outcomes, row_for
from tracer.profile import errors

COUNTS = list(counts_of_corpus())
OUTCOMES = outcomes()
WITHOUT = sorted(set(sources()) - {source_of(path) for path in COUNTS})


@pytest.mark.parametrize("path", COUNTS, ids=name_of)
def test_a_source_comes_to_what_was_counted_apart(path: Path) -> None:
    check(path)


@pytest.mark.parametrize("path", WITHOUT, ids=name_of)
def test_a_source_without_counts_is_read_or_refused_as_the_table_says(path: Path) -> None:
    row = row_for(name_of(path), OUTCOMES)

    assert row is not None, "neither counts nor a row of docs/corpus.md"
    if row.outcome == "read":
        assert read(path).stack_count > 0
    else:
        with pytest.raises(getattr(errors, row.outcome)):
            read(path)


@pytest.mark.skipif(not COUNTS, reason="no corpus lies beside the checkout")
def test_no_row_of_the_table_is_left_over() -> None:
    used = {id(row_for(name_of(path), OUTCOMES)) for path in WITHOUT}

    assert [row.pattern for row in OUTCOMES if id(row) not in used] == []
