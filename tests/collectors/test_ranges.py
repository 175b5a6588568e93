"""Mapped ranges and their owners."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracer.collectors.ranges import RangeMap


def ranges(*calls: tuple[str, int, int, str]) -> RangeMap[str]:
    """Apply mappings and unmappings, one after another in time."""
    known: RangeMap[str] = RangeMap()
    for now, (what, start, end, owner) in enumerate(calls):
        if what == "map":
            known.map(start, end, at_ns=now, owner=owner)
        else:
            known.unmap(start, end, at_ns=now)
    return known


def held(known: RangeMap[str]) -> dict[str, int]:
    return {owner: count for owner, count in known.bytes_by_owner.items() if count}


def test_what_is_mapped_is_held():
    assert held(ranges(("map", 10, 30, "a"), ("map", 50, 60, "b"))) == {"a": 20, "b": 10}


def test_a_hole_in_the_middle_leaves_both_sides():
    known = ranges(("map", 0, 100, "a"), ("unmap", 10, 30, ""))

    assert held(known) == {"a": 80}
    assert len(known) == 2


def test_an_unmapping_over_several_ranges_takes_their_parts():
    assert held(ranges(("map", 0, 10, "a"), ("map", 10, 20, "b"), ("map", 30, 40, "c"), ("unmap", 5, 35, ""))) == {
        "a": 5, "c": 5,
    }  # fmt: skip


def test_a_mapping_over_another_takes_its_place():
    assert held(ranges(("map", 0, 40, "a"), ("map", 8, 24, "b"))) == {"a": 24, "b": 16}


def test_unmapping_what_is_not_known_changes_nothing():
    assert held(ranges(("map", 0, 10, "a"), ("unmap", 10, 99, ""), ("unmap", 200, 300, ""))) == {"a": 10}


def test_an_unmapping_that_arrives_late_leaves_what_was_mapped_after_it():
    known: RangeMap[str] = RangeMap()
    known.map(0, 10, at_ns=1, owner="old")
    known.map(0, 10, at_ns=5, owner="new")  # the kernel gave the same place out again

    known.unmap(0, 10, at_ns=3)

    assert held(known) == {"new": 10}


def test_a_mapping_that_arrives_late_gets_only_what_nothing_newer_has():
    known: RangeMap[str] = RangeMap()
    known.map(10, 20, at_ns=5, owner="newer")

    known.map(0, 30, at_ns=3, owner="older")

    assert held(known) == {"newer": 10, "older": 20}


spans = st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda span: (span[0], span[0] + span[1]))


@given(st.lists(st.tuples(st.sampled_from(["map", "unmap"]), spans, st.sampled_from("abc")), max_size=30))
def test_owners_hold_what_a_table_of_single_bytes_says(calls):
    owner_by_byte: dict[int, str] = {}
    for what, (start, end), owner in calls:
        for place in range(start, end):
            owner_by_byte.pop(place, None)
            if what == "map":
                owner_by_byte[place] = owner

    known = ranges(*((what, start, end, owner) for what, (start, end), owner in calls))

    assert held(known) == {owner: list(owner_by_byte.values()).count(owner) for owner in set(owner_by_byte.values())}
