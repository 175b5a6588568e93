"""The graphs of this folder, which JavaScript reads too: the same bytes, the numbers counted from the stacks."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tracer import protocol
from tracer.profile import tree
from tracer.profile.folded import read_folded
from tracer.profile.tree import CallTree, payload

GRAPHS = sorted(path for path in Path(__file__).parent.glob("*.json") if path.with_suffix(".fgb2").exists())


def built(text: str) -> CallTree:
    return tree.build(read_folded(io.BytesIO(text.encode()), resolve=protocol.value_type_named))


def load(path: Path) -> tuple[CallTree, bytes, dict[str, Any]]:
    """The tree, with a column for each side, its payload, and what must be found."""
    graph = json.loads(path.read_text())
    before = built(graph["folded"])
    if "after" not in graph:
        return before, payload.encode(before, 0, overview=False).data, graph["expected"]
    diff = tree.merge(before, built(graph["after"]), before.value_types[0].name)
    return diff.tree, payload.encode_diff(diff, overview=False).data, graph["expected"]


def paths_of(call_tree: CallTree) -> list[list[str]]:
    path: list[str] = []
    paths = []
    for depth, name in zip(call_tree.depth.tolist()[1:], call_tree.name.tolist()[1:], strict=True):
        path[depth - 1 :] = [call_tree.names[name]]
        paths.append(list(path))
    return paths


def test_there_are_graphs() -> None:
    assert len(GRAPHS) == 7


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_the_payload_has_the_same_bytes(path: Path) -> None:
    _, data, _ = load(path)

    assert data == path.with_suffix(".fgb2").read_bytes()


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_totals_of_paths_are_those_counted_from_the_stacks(path: Path) -> None:
    call_tree, _, expected = load(path)

    totals = zip(*(call_tree.totals(column).tolist()[1:] for column in range(len(call_tree.selfs))), strict=True)
    found = [[path, list(values)] for path, values in zip(paths_of(call_tree), totals, strict=True)]
    assert sorted(found) == sorted(expected["paths"])
    assert [call_tree.total(column) for column in range(len(call_tree.selfs))] == expected["total"]


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_functions_are_those_counted_from_the_stacks(path: Path) -> None:
    call_tree, _, expected = load(path)

    columns = [tree.function_values(call_tree, column) for column in range(len(call_tree.selfs))]

    assert expected["functions"] == {
        name: {
            "self": [values.selfs[place] for values in columns],
            "total": [values.totals[place] for values in columns],
        }
        for place, name in enumerate(call_tree.names)
    }


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_matched_totals_are_those_counted_from_the_stacks(path: Path) -> None:
    call_tree, _, expected = load(path)

    for pattern, matched in expected["searches"].items():
        stacks = [values for stack, values in call_tree.rows() if any(re.search(pattern, name) for name in stack)]
        assert [sum(values[side] for values in stacks) for side in range(len(matched))] == matched
