"""Allocators and the table without them, by the file that JavaScript reads too, and by the words of its module."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tracer.collectors.allocator_functions import LEAVES
from tracer.profile import tree
from tracer.profile.model import Profile, ValueType
from tracer.profile.tree.allocators import KEEPS_ALLOCATORS, PATTERN, is_allocator
from webapp.runs.functions import tables

FIXTURE: dict[str, Any] = json.loads(Path(__file__).with_name("allocators.json").read_text())
MODULE = (Path(__file__).parents[2] / "frontend" / "js" / "allocators.js").read_text()


def built(graph: dict[str, Any]) -> tree.CallTree:
    is_signed = min(graph["stacks"].values()) < 0
    profile = Profile((ValueType(graph["value_type"], graph["unit"], "flow", "", is_signed=is_signed),))
    for stack, value in graph["stacks"].items():
        profile.add(stack.split(";"), [value])
    return tree.build(profile)


def test_allocators_are_told_from_names_that_only_look_like_them() -> None:
    assert [name for name in FIXTURE["allocators"] if not is_allocator(name)] == []
    assert [name for name in FIXTURE["others"] if is_allocator(name)] == []


def test_each_function_that_the_heap_collectors_end_stacks_with_is_one() -> None:
    assert [name for name in LEAVES if not is_allocator(name)] == []


def test_the_page_has_the_same_list() -> None:
    strings = re.search(r"new RegExp\((.*?)\n\);", MODULE, re.DOTALL)
    units = re.search(r"new Set\((\[.*?\])\)", MODULE)

    assert strings and units
    assert "".join(map(json.loads, re.findall(r'"(?:[^"\\]|\\.)*"', strings[1]))) == PATTERN
    assert json.loads(units[1]) == list(KEEPS_ALLOCATORS)


@pytest.mark.parametrize("graph", FIXTURE["graphs"], ids=lambda graph: graph["about"])
def test_the_table_has_the_rows_that_the_page_counts(graph: dict[str, Any]) -> None:
    call_tree = built(graph)

    (table,) = tables(call_tree)

    assert table["rows"] == graph["rows"]
    assert (table["count"], table["all"]) == (len(graph["rows"]), graph["all"])
    assert tree.fold_allocators(call_tree).total(0) == call_tree.total(0)
