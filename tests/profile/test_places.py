"""Frames that are places in files, and profiles with better names for them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracer.profile.gaps import gaps_of
from tracer.profile.model import Profile, ValueType
from tracer.profile.places import Place, is_file, place_of, told_modules
from tracer.profile.renamed import renamed

BYTES = ValueType("held", "bytes", "level", "")
NAMES = ["main", "lib.so+0x10", "lib.so+0x20", "app+0x1000", "malloc"]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("search-api+0x18d8e", Place("search-api", 0x18D8E)),
        ("my app+0x1", Place("my app", 1)),
        ("a+0x1+0x2", Place("a+0x1", 2)),
        ("lib.so@93ac61ec+0x10", Place("lib.so@93ac61ec", 0x10)),
        ("operator+", None),
        ("+0x10", None),
        ("app+0x", None),
        ("app+0x12345678901234567", None),
        ("app+0x10 ", None),
    ],
)
def test_a_place_is_a_file_and_an_offset(name: str, place: Place | None) -> None:
    assert place_of(name) == place


def test_of_other_tools_a_file_is_what_can_be_no_function_or_what_the_profile_tells() -> None:
    told = told_modules({"build_ids": {"a": "00"}, "modules": {"b": "/srv/b"}})

    assert [is_file(name, told, is_ours=False) for name in ("a", "b", "libc.so.6", "[heap]", "eval_loop")] == [
        True, True, True, True, False,
    ]  # fmt: skip
    assert is_file("eval_loop", (), is_ours=True)


@pytest.mark.parametrize("capture", [{}, {"modules": ["a"], "build_ids": 7}])
def test_a_claim_of_another_form_tells_nothing(capture: dict[str, object]) -> None:
    assert not told_modules(capture)


def test_what_a_heap_dump_tells_of_its_program_counts_as_unresolved() -> None:
    profile = Profile((BYTES,), capture={"modules": {"app": "/srv/app"}})
    profile.add(["app+0x10", "malloc"], [8])

    assert gaps_of(profile, is_ours=False).unresolved_by_module == {"app": 8}


def test_a_frame_becomes_several_and_stacks_that_become_the_same_add_up() -> None:
    profile = Profile((BYTES,), capture={"pid": 1}, format="jemalloc")
    profile.add(["main", "lib.so+0x10"], [3])
    profile.add(["main", "lib.so+0x20"], [4])
    profile.add(["main", "load", "take"], [5])
    profile.skip(7, "text", "reason")

    new = renamed(profile, {"lib.so+0x10": ["load", "take"], "lib.so+0x20": ["load"], "absent": ["x"]})

    assert new.values_by_stack == {("main", "load", "take"): [8], ("main", "load"): [4]}
    assert (new.capture, new.format, new.skipped_lines, len(new.skipped)) == ({"pid": 1}, "jemalloc", 1, 1)


@given(
    stacks=st.dictionaries(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(tuple), st.integers(-9, 9)),
    names=st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from([*NAMES, "new"]), max_size=3)),
)
@settings(max_examples=30)
def test_totals_stay_whatever_names_are_given(stacks: dict[tuple[str, ...], int], names: dict[str, list[str]]) -> None:
    profile = Profile((BYTES,))
    for stack, value in stacks.items():
        profile.add(stack, [value])

    new = renamed(profile, names)

    expected: dict[tuple[str, ...], int] = {}
    for stack, value in stacks.items():
        key = tuple(frame for name in stack for frame in names.get(name) or [name])
        expected[key] = expected.get(key, 0) + value
    assert new.total() == profile.total()
    assert new.values_by_stack == {stack: [value] for stack, value in expected.items()}
