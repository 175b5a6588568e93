"""Golden pairs: a folded file of any tool, and what `convert --to folded` makes of it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tracer import protocol
from tracer.profile import tree
from tracer.profile.errors import EmptyProfile
from tracer.profile.export.folded import write_one_column
from tracer.profile.formats import read_profile
from tracer.profile.model import Profile

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "folded"
COUNTED = sorted(DATA.glob("*.totals.json"))


def read(path: Path) -> Profile:
    with path.open("rb") as stream:
        return read_profile(stream, resolve=protocol.value_type_named)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.folded")), ids=lambda path: path.stem)
def test_a_file_converts_to_its_golden_twin(path: Path) -> None:
    out = io.StringIO()

    write_one_column(read(path), 0, out)

    assert out.getvalue() == path.with_suffix(".expected").read_text()


@pytest.mark.parametrize("path", COUNTED, ids=lambda path: path.stem)
def test_a_file_has_the_totals_that_were_counted_by_others(path: Path) -> None:
    want = json.loads(path.read_text())
    source = path.with_name(path.name.removesuffix(".totals.json"))
    if want["lines"] == 0:
        with pytest.raises(EmptyProfile):
            read(source)
        return

    profile = read(source)
    call_tree = tree.build(profile)

    assert profile.total() == pytest.approx(want["total"], rel=1e-12)
    assert call_tree.total(0) == pytest.approx(want["total"], rel=1e-12)
    assert profile.skipped_lines == want["bad_lines"]
    if b"; " not in source.read_bytes():  # the counts took an empty last frame for a frame, we drop it
        assert profile.stack_count == want["unique_stacks"]
        assert len(call_tree.levels) - 1 == want["max_depth"]
    assert profile.value_types[0].is_float == bool(want["fractional_lines"])
