"""What changed between two trees, by the file that JavaScript reads too: the sentence, the rows, what moved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tracer.profile import tree
from tracer.profile.model import Profile, ValueType
from webapp.compare.plain import finding
from webapp.compare.table import table_of

GRAPHS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("comparisons.json").read_text())


def built(graph: dict[str, Any], side: int) -> tree.CallTree:
    profile = Profile((ValueType("counted", graph["unit"], "level", ""),))
    for stack, values in graph["stacks"].items():
        if values[side]:
            profile.add(stack.split(";"), [values[side]])
    return tree.build(profile)


def compared(before: tree.CallTree, after: tree.CallTree) -> dict[str, Any]:
    return table_of(tree.merge(before, after, "counted"))


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph["about"])
def test_it_finds_what_the_page_finds(graph: dict[str, Any]) -> None:
    table = compared(built(graph, 0), built(graph, 1))

    assert "".join(text for text, _ in finding(table, graph["unit"])) == graph["sentence"]
    assert table["rows"] == graph["rows"]
    assert table["moved"] == graph["moved"]
    assert table["count"] == len(graph["rows"])


def test_two_empty_trees_have_a_sentence_and_no_row() -> None:
    empty = built({"unit": "bytes", "stacks": {}}, 0)

    table = compared(empty, empty)

    assert finding(table, "bytes") == [("Nothing changed: both sides hold 0\xa0B.", "")]
    assert table["rows"] == []


def test_of_many_functions_those_that_changed_most_are_kept() -> None:
    after = {f"main;f{number}": [0, number] for number in range(1, 100)}
    before = {f"main;g{number}": [number * 10, 0] for number in range(1, 100)}
    graph = {"unit": "bytes", "stacks": before | after}

    table = compared(built(graph, 0), built(graph, 1))

    assert [row[0] for row in table["rows"]] == [f"g{number}" for number in range(50, 100)]
    assert (table["count"], table["first"]) == (199, ["g99", -990])
