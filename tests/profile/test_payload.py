"""FGB2: what the viewer decodes is the tree that was encoded."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.profile import tree
from tracer.profile.model import Number, Profile, ValueType
from tracer.profile.tree import payload
from tracer.profile.tree.varint import from_uvarint, from_zigzag, uvarint, zigzag

MakeProfile = Callable[[Mapping[str, Number]], Profile]
MANY = 40_000  # nodes that take more than 60 kB, each under a 2000th of the total


def decode(data: bytes) -> tuple[dict[str, Any], list[str], list[list[Number]]]:
    """Header, paths in level order, self values of each column: a reader as slow and obvious as can be."""
    assert data[:4] == b"FGB2"
    end = 8 + struct.unpack("<I", data[4:8])[0]
    header = json.loads(data[8:end])
    raw = {}
    for name, size in header["sections"]:
        raw[name] = data[end : end + size]
        end += size
    assert end == len(data)
    strings = raw["strings"].decode().split("\0")
    children, names = from_uvarint(raw["nch"]).tolist(), from_uvarint(raw["name"]).tolist()
    paths, queue = [""], []
    for node, count in enumerate(children):
        for child in range(len(paths), len(paths) + count):
            queue.append(node)
            paths.append((paths[node] + ";" if node else "") + strings[names[child]])
    assert len(paths) == header["n"] == len(names)
    selfs = [_values(raw[name], header) for name in ("self", "self2") if name in raw]
    return header, paths, selfs


def _values(raw: bytes, header: dict[str, Any]) -> list[Number]:
    if header["encoding"] == "float64":
        return np.frombuffer(raw, "<f8").tolist()
    numbers = from_uvarint(raw)
    whole = from_zigzag(numbers) if header["encoding"] == "zigzag" else numbers.astype(np.int64)
    return (whole * header["unit"]).tolist()


def encoded(profile: Profile, *, overview: bool = False) -> tuple[dict[str, Any], list[str], list[list[Number]]]:
    return decode(payload.encode(tree.build(profile), 0, overview=overview).data)


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_varints_read_back(numbers: list[int]) -> None:
    assert from_uvarint(uvarint(np.array(numbers, np.uint64))).tolist() == numbers


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_zigzag_reads_back(numbers: list[int]) -> None:
    assert from_zigzag(zigzag(np.array(numbers, np.int64))).tolist() == numbers


def test_children_follow_widest_first_level_by_level(profile_of: MakeProfile) -> None:
    header, paths, selfs = encoded(profile_of({"a;x": 16, "b": 64, "b;y": 32, "b;z": 48, "a": 16}))

    assert paths == ["", "b", "a", "b;z", "b;y", "a;x"]
    assert selfs == [[0, 64, 16, 48, 32, 16]]
    assert (header["n"], header["unit"], header["encoding"], header["total"]) == (6, 16, "uvarint", 176)


def test_the_header_says_what_the_numbers_are(profile_of: MakeProfile) -> None:
    call_tree = tree.build(profile_of({"a": 1}))

    header, _, _ = decode(payload.encode(call_tree, 0, overview=True, run={"run": "r-abc"}).data)

    assert header["v"] == 2
    assert header["value_type"] == {
        "name": "outstanding_bytes",
        "unit": "bytes",
        "kind": "level",
        "meaning": "Bytes allocated while tracing and not freed yet",
        "is_signed": False,
        "is_float": False,
    }
    assert (header["overview"], header["run"]) == (None, {"run": "r-abc"})


def test_the_most_frequent_name_has_the_smallest_id(profile_of: MakeProfile) -> None:
    data = payload.encode(tree.build(profile_of({"a;f": 1, "b;f": 1, "c;f": 1})), 0, overview=False).data

    assert data.endswith(b"f\0a\0b\0c")


def test_negative_values_are_sent_as_zigzag_and_drawn_by_their_amount(profile_of: MakeProfile) -> None:
    header, paths, selfs = encoded(profile_of({"a;grow": 10, "a;shrink": -10, "b": 5}))

    assert (header["encoding"], header["total"]) == ("zigzag", 5)
    assert paths == ["", "a", "b", "a;grow", "a;shrink"]
    assert selfs == [[0, 0, 5, 10, -10]]


def test_fractions_are_sent_as_float64(profile_of: MakeProfile) -> None:
    header, _, selfs = encoded(profile_of({"a": 0.5, "b": 0.25}))

    assert (header["encoding"], header["unit"], header["total"]) == ("float64", 1, 0.75)
    assert selfs == [[0, 0.5, 0.25]]


def test_a_total_of_2_to_the_62_is_exact(profile_of: MakeProfile) -> None:
    header, _, selfs = encoded(profile_of({"a": 2**62, "b": 1}))

    assert header["total"] == 2**62 + 1
    assert selfs == [[0, 2**62, 1]]


def test_a_difference_has_both_sides_ordered_by_the_larger(profile_of: MakeProfile) -> None:
    before, after = tree.build(profile_of({"a": 30, "gone": 20})), tree.build(profile_of({"a": 30, "new": 40}))

    encoded_diff = payload.encode_diff(tree.merge(before, after, "outstanding_bytes"), overview=False)

    header, paths, selfs = decode(encoded_diff.data)
    assert paths == ["", "new", "a", "gone"]
    assert selfs == [[0, 0, 30, 20], [0, 40, 30, 0]]
    assert (header["total"], header["total2"], header["unit"]) == (50, 70, 10)


def test_an_overview_prunes_and_keeps_totals(profile_of: MakeProfile) -> None:
    profile = profile_of({"big;a": 10**6} | {f"many;f{number}": 1 for number in range(MANY)})

    call_tree = tree.build(profile)
    small = payload.encode(call_tree, 0, overview=True)

    header, paths, selfs = decode(small.data)
    assert not small.is_full
    assert header["overview"] == {"full_nodes": MANY + 4, "min_total": 520}
    assert paths == ["", "big", "many", "big;a"]
    assert selfs == [[0, 0, MANY, 10**6]]
    assert header["total"] == 10**6 + MANY


def test_an_overview_of_a_difference_keeps_what_is_large_on_either_side(profile_of: MakeProfile) -> None:
    many = {f"many;f{number}": 1 for number in range(MANY)}
    before, after = tree.build(profile_of(many | {"gone": 10**6})), tree.build(profile_of(many))

    small = payload.encode_diff(tree.merge(before, after, "outstanding_bytes"), overview=True)

    header, paths, selfs = decode(small.data)
    assert paths == ["", "gone", "many"]
    assert selfs == [[0, 10**6, MANY], [0, 0, MANY]]


@pytest.mark.parametrize("extra", [{}, {"shrink": -1}])
def test_a_small_or_signed_tree_is_its_own_overview(profile_of: MakeProfile, extra: dict[str, int]) -> None:
    count = MANY if extra else 10_000
    call_tree = tree.build(profile_of({"big": 10**6, **extra} | {f"many;f{number}": 1 for number in range(count)}))

    overview, full = (payload.encode(call_tree, 0, overview=choice) for choice in (True, False))

    assert overview.is_full
    assert overview.data == full.data


def test_a_value_type_of_zeros_is_encoded(profile_of: MakeProfile) -> None:
    header, paths, selfs = encoded(profile_of({"a;b": 0}))

    assert (header["unit"], header["total"], paths, selfs) == (1, 0, ["", "a", "a;b"], [[0, 0, 0]])


def test_only_the_value_type_asked_for_is_encoded() -> None:
    profile = Profile((ValueType("a", "bytes", "level", ""), ValueType("b", "calls", "flow", "")))
    profile.add(["main"], [1, 2])

    header, _, selfs = decode(payload.encode(tree.build(profile), 1, overview=False).data)

    assert (header["value_type"]["name"], selfs) == ("b", [[0, 2]])
