"""What a flow was between two snapshots: the numbers of intervals.json, which the time line of JavaScript reads too."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer import protocol
from tracer.profile import tree
from tracer.profile.folded import read_folded
from tracer.profile.tree import CallTree

FIXTURE = json.loads((Path(__file__).parent / "intervals.json").read_text())
FLOW = FIXTURE["value_type"]
FOLDED = {snapshot["seq"]: snapshot["folded"] for snapshot in FIXTURE["snapshots"]}
STACKS = st.lists(st.tuples(st.sampled_from(["a", "a;b", "a;b;a", "c", "c;d"]), st.integers(0, 1 << 40)), max_size=8)


def built(folded: str, name: str = FLOW) -> CallTree:
    text = f"# memflame-folded 1\n# values: {name}\n{folded}"
    return tree.build(read_folded(io.BytesIO(text.encode()), resolve=protocol.value_type_named))


def stacks_of(call_tree: CallTree) -> dict[str, int]:
    return {";".join(stack): int(value) for stack, (value,) in call_tree.rows()}


@pytest.mark.parametrize("expected", FIXTURE["intervals"], ids=lambda row: f"{row['since']}-{row['until']}")
def test_an_interval_is_the_later_minus_the_earlier_by_stack(expected: dict[str, Any]) -> None:
    found = tree.interval(built(FOLDED[expected["since"]]), built(FOLDED[expected["until"]]), FLOW)

    assert stacks_of(found) == expected["stacks"]
    assert found.value_types[0].is_signed == bool(expected["negative"])


@pytest.mark.parametrize("row", FIXTURE["amounts"][1:], ids=lambda row: f"{row['since']}-{row['until']}")
def test_its_total_is_the_difference_of_both_totals_exactly(row: dict[str, Any]) -> None:
    found = tree.interval(built(FOLDED[row["since"]]), built(FOLDED[row["until"]]), FLOW)

    assert found.total(0) == row["amount"]


@given(earlier=STACKS, later=STACKS)
def test_totals_are_conserved_whatever_the_stacks(earlier: list[Any], later: list[Any]) -> None:
    trees = [built("".join(f"{stack} {value}\n" for stack, value in side) or "a 0\n") for side in (earlier, later)]

    found = tree.interval(*trees, FLOW)

    assert found.total(0) == trees[1].total(0) - trees[0].total(0)
    assert stacks_of(tree.together([trees[0], found], FLOW)) == stacks_of(trees[1])


def test_paths_where_nothing_happened_are_left_out() -> None:
    found = tree.interval(built(FOLDED[1]), built(FOLDED[2]), FLOW)

    assert "load" not in found.names
    assert len(tree.interval(built(FOLDED[1]), built(FOLDED[1]), FLOW)) == 1


def test_a_level_has_no_interval() -> None:
    levels = [built("main 1\n", "outstanding_bytes"), built("main 3\n", "outstanding_bytes")]

    with pytest.raises(tree.NotAFlow, match="outstanding_bytes is a level"):
        tree.interval(*levels, "outstanding_bytes")
