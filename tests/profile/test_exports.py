"""What is written for other tools: the same stacks and the same sums."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer import protocol
from tracer.profile import tree
from tracer.profile.export.json import write_json
from tracer.profile.export.pprof import write_pprof
from tracer.profile.export.speedscope import write_speedscope
from tracer.profile.export.stacks import profile_of
from tracer.profile.export.table import write_table
from tracer.profile.formats import read_profile
from tracer.profile.model import Profile

TWO = b"# memflame-folded 1\n# values: outstanding_bytes outstanding_objects\n"
STACKS = TWO + b"main;load_index;malloc 4096 2\nmain;load_index;load_index;malloc 64 1\nmain;=cmd() 1 1\n"


def read(raw: bytes) -> Profile:
    return read_profile(io.BytesIO(raw), resolve=protocol.value_type_named)


def through_pprof(profile: Profile) -> Profile:
    out = io.BytesIO()
    write_pprof(profile, out)
    return read(out.getvalue())


def text_of(write: Callable[[Profile, io.StringIO], None], raw: bytes = STACKS) -> str:
    out = io.StringIO()
    write(read(raw), out)
    return out.getvalue()


def table_of(raw: bytes) -> str:
    out = io.StringIO()
    write_table(tree.build(read(raw)), out)
    return out.getvalue()


def test_a_recording_comes_back_from_pprof_with_its_value_types_and_their_meaning() -> None:
    profile = read(STACKS)

    again = through_pprof(profile)

    assert again.format == "pprof"
    assert again.value_types == profile.value_types
    assert again.values_by_stack == profile.values_by_stack


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0;\n"), min_size=1, max_size=12)


@given(stack=st.lists(NAMES, min_size=1, max_size=6), value=st.integers(-(2**62), 2**62))
def test_any_stack_and_value_comes_back_from_pprof(stack: list[str], value: int) -> None:
    profile = Profile((protocol.value_type_named("heap_bytes"),))
    profile.add(stack, [value])

    assert through_pprof(profile).values_by_stack == profile.values_by_stack


def test_fractions_are_rounded_for_pprof_and_never_become_nothing() -> None:
    profile = read(b"a 0.25\nb 2.5\nc -0.1\nd 0.0\n")

    assert [values for _, values in through_pprof(profile).rows()] == [[1], [2], [-1], [0]]


def test_speedscope_has_a_graph_for_each_value_type_with_its_sum() -> None:
    found = json.loads(text_of(write_speedscope))

    names = [frame["name"] for frame in found["shared"]["frames"]]
    first, second = found["profiles"]
    assert [names[number] for number in first["samples"][0]] == ["main", "load_index", "malloc"]
    assert (first["unit"], first["endValue"], sum(first["weights"])) == ("bytes", 4161, 4161)
    assert (second["unit"], second["endValue"]) == ("none", 4)


def test_speedscope_says_what_it_can_not_show() -> None:
    found = json.loads(text_of(write_speedscope, b"a 5\nb -7\n"))

    assert found["profiles"][0]["weights"] == [5]
    assert found["profiles"][0]["name"].endswith("(without -7 in stacks below 0)")


def test_json_has_frames_once_and_values_by_stack() -> None:
    found = json.loads(text_of(write_json))

    stacks = [[found["frames"][number] for number in stack] for stack in found["stacks"]]
    assert dict(zip(map(tuple, stacks), found["values"], strict=True)) == read(STACKS).values_by_stack
    assert [known["name"] for known in found["value_types"]] == ["outstanding_bytes", "outstanding_objects"]


def test_the_table_counts_a_function_that_calls_itself_once() -> None:
    head, *rows = csv.reader(table_of(STACKS).splitlines())

    assert head[:3] == ["function", "outstanding_bytes self", "outstanding_bytes total"]
    assert rows == [
        ["main", "0", "4161", "0", "4"],
        ["load_index", "0", "4160", "0", "3"],
        ["malloc", "4160", "4160", "3", "3"],
        ["'=cmd()", "1", "1", "1", "1"],
    ]


def test_whole_numbers_are_exact_whatever_their_size() -> None:
    large = 2**53 + 1
    profile = read(f"main;a {large}\nmain;b {2**62}\n".encode())

    assert json.loads(text_of(write_json, f"main;a {large}\n".encode()))["values"] == [[large]]
    assert table_of(f"main;a {large}\n".encode()).splitlines()[1] == f"a,{large},{large}"
    assert through_pprof(profile).values_by_stack == profile.values_by_stack


@given(st.dictionaries(st.lists(NAMES, min_size=1, max_size=5).map(tuple), st.integers(-9, 9), max_size=12))
def test_a_tree_has_the_stacks_that_it_was_built_of(values: dict[tuple[str, ...], int]) -> None:
    profile = Profile((protocol.value_type_named("heap_bytes"),))
    for stack, value in values.items():
        profile.add(stack, [value])

    again = profile_of(tree.build(profile)).values_by_stack

    assert {stack: value for stack, value in again.items() if any(value)} == {
        stack: value for stack, value in profile.values_by_stack.items() if any(value)
    }
    assert set(again) <= set(profile.values_by_stack)


@pytest.mark.parametrize("to", ["pprof", "speedscope", "json", "csv"])
def test_the_command_writes_each_form(to: str, tmp_path: Path) -> None:
    file = tmp_path / "run.folded"
    file.write_bytes(STACKS)

    command = [sys.executable, "-m", "tracer", "convert", file, "--to", to]
    written = subprocess.run(command, capture_output=True, check=True).stdout

    assert b"outstanding_bytes" in (gzip.decompress(written) if to == "pprof" else written)
