"""Shares of a profile that have no name, no caller or no stack."""

from __future__ import annotations

import pytest

from tracer.profile.gaps import gaps_of
from tracer.profile.model import Profile, ValueType


def profile_of(values_by_stack: dict[str, float], *, is_float: bool = False) -> Profile:
    profile = Profile((ValueType("held", "bytes", "level", "", is_float=is_float),))
    for stack, value in values_by_stack.items():
        profile.add(stack.split(";"), [value])
    return profile


def test_a_profile_with_all_its_names_has_no_gap():
    gaps = gaps_of(profile_of({"main;work;malloc": 40, "main;malloc": 2}), is_ours=True)

    assert set(gaps.shares.values()) == {0.0}
    assert gaps.unresolved_by_module == {}


def test_places_without_a_name_are_a_share_of_the_graphs_area():
    gaps = gaps_of(profile_of({"main;plugin.so+0x40;plugin.so+0x80;malloc": 30, "main;work;malloc": 10}), is_ours=True)

    assert gaps.shares["unresolved"] == pytest.approx(60 / 150)
    assert gaps.unresolved_by_module == {"plugin.so": 30}


def test_inner_functions_of_the_c_library_are_no_gap():
    assert gaps_of(profile_of({"libc.so.6+0x27249;main;malloc": 7}), is_ours=True).shares["unresolved"] == 0


def test_stacks_without_their_root_or_without_any_frame_are_told_by_value():
    values = {"[truncated];a": 10, "[broken unwind];b": 20, "[caller not unwound];c": 5, "[stack not recorded];d": 15}

    gaps = gaps_of(profile_of({**values, "main;[truncated]": 50}), is_ours=True)

    assert gaps.shares == {"unresolved": 0, "truncated": 0.1, "broken": 0.25, "without_stack": 0.15}


def test_negative_values_count_by_their_amount():
    gaps = gaps_of(profile_of({"main;brk": -30, "[stack not recorded]": 10}), is_ours=True)

    assert gaps.shares["without_stack"] == 0.25


def test_a_profile_without_value_has_no_shares():
    assert gaps_of(profile_of({"main": 0}), is_ours=True).shares == {}
    assert gaps_of(profile_of({}), is_ours=True).shares == {}


def test_fractions_are_added_as_they_are():
    gaps = gaps_of(profile_of({"main;a.out+0x1": 0.5, "main;b": 1.5}, is_float=True), is_ours=True)

    assert gaps.unresolved_by_module == {"a.out": 0.5}


@pytest.mark.parametrize("name", ["[unknown]", "??", "0x7f3a", "libfoo.so.1+0x2a", "[anon]+0x10", "[libfoo.so.1]"])
def test_other_tools_write_a_place_without_a_name_in_their_ways(name):
    assert gaps_of(profile_of({name: 1}), is_ours=False).shares["unresolved"] == 1


@pytest.mark.parametrize("name", ["do_syscall_64+0x5", "main", "operator+", "[kernel]", "0xcafe()"])
def test_a_function_of_another_tool_is_no_gap(name):
    assert gaps_of(profile_of({name: 1}), is_ours=False).shares["unresolved"] == 0


def test_only_the_modules_with_the_most_are_named():
    gaps = gaps_of(profile_of({f"lib{number}.so+0x1": number for number in range(1, 40)}), is_ours=True)

    assert list(gaps.unresolved_by_module) == [f"lib{number}.so" for number in range(39, 19, -1)]
