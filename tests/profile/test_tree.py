"""Call trees: totals are conserved by building, merging, pruning and storing, and equal what brute force says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer.profile import tree
from tracer.profile.errors import LimitExceeded, MalformedProfile
from tracer.profile.model import Limits, Number, Profile, ValueType
from tracer.profile.tree import CallTree

BYTES = "outstanding_bytes"
MakeProfile = Callable[[Mapping[str, Number]], Profile]

names = st.sampled_from(["main", "load", "parse", "new", "ü;"])
rows = st.lists(
    st.tuples(st.lists(names, min_size=1, max_size=8), st.integers(0, 2**50), st.integers(-100, 100)),
    min_size=1,
    max_size=30,
)


def profile_of_rows(given_rows: list[tuple[list[str], int, int]]) -> Profile:
    signed = ValueType("heap_bytes", "bytes", "flow", "", is_signed=True)
    profile = Profile((ValueType(BYTES, "bytes", "level", ""), signed))
    for stack, level, flow in given_rows:
        profile.add(stack, [level, flow])
    return profile


profiles = rows.map(profile_of_rows)


def total_by_path(profile: Profile, column: int) -> dict[tuple[str, ...], Number]:
    """The slow and obvious way."""
    totals: Counter[tuple[str, ...]] = Counter()
    for stack, values in profile.rows():
        for depth in range(len(stack) + 1):
            totals[stack[:depth]] += values[column]
    return dict(totals)


def paths(call_tree: CallTree) -> list[tuple[str, ...]]:
    path: list[str] = []
    found = []
    for depth, name in zip(call_tree.depth.tolist(), call_tree.name.tolist(), strict=True):
        if depth:
            path[depth - 1 :] = [call_tree.names[name]]
        found.append(tuple(path[:depth]))
    return found


@given(profiles)
def test_every_total_is_what_brute_force_says(profile: Profile) -> None:
    call_tree = tree.build(profile)

    for column in range(2):
        totals = dict(zip(paths(call_tree), call_tree.totals(column).tolist(), strict=True))
        assert totals == total_by_path(profile, column)


@given(profiles)
def test_a_node_stands_once_and_after_its_parent(profile: Profile) -> None:
    call_tree = tree.build(profile)

    found = paths(call_tree)
    assert len(set(found)) == len(found)
    assert [found[parent] for parent in call_tree.parent[1:]] == [path[:-1] for path in found[1:]]


@given(profiles)
def test_self_values_sum_up_to_the_total(profile: Profile) -> None:
    call_tree = tree.build(profile)

    assert [call_tree.total(column) for column in range(2)] == [profile.total(column) for column in range(2)]
    assert [int(values.sum()) for values in call_tree.selfs] == [profile.total(column) for column in range(2)]


@given(profiles)
def test_a_tree_gives_its_stacks_back(profile: Profile) -> None:
    with_a_value = {stack: values for stack, values in profile.rows() if any(values)}

    assert dict(tree.build(profile).rows()) == with_a_value


@given(profiles)
def test_a_stored_tree_reads_back_the_same(profile: Profile) -> None:
    call_tree = tree.build(profile)

    again = tree.unpack(tree.pack(call_tree))

    assert list(again.rows()) == list(call_tree.rows())
    assert again.value_types == call_tree.value_types
    assert np.array_equal(again.depth, call_tree.depth)


@given(profiles, profiles)
def test_a_merge_keeps_both_sides(before: Profile, after: Profile) -> None:
    diff = tree.merge(tree.build(before), tree.build(after), BYTES)

    want = {path: [0, 0] for path in {**total_by_path(before, 0), **total_by_path(after, 0)}}
    for side, profile in enumerate((before, after)):
        for path, total in total_by_path(profile, 0).items():
            want[path][side] = total
    totals = zip(diff.tree.totals(0).tolist(), diff.tree.totals(1).tolist(), strict=True)
    assert dict(zip(paths(diff.tree), map(list, totals), strict=True)) == want


@given(profiles)
def test_a_profile_merged_with_itself_has_no_delta(profile: Profile) -> None:
    call_tree = tree.build(profile)

    diff = tree.merge(call_tree, call_tree, BYTES)

    assert np.array_equal(diff.before, diff.after)
    assert len(diff.tree) == len(call_tree)


@given(profiles, profiles)
def test_swapped_sides_are_mirrors(before: Profile, after: Profile) -> None:
    forth = tree.merge(tree.build(before), tree.build(after), BYTES)
    back = tree.merge(tree.build(after), tree.build(before), BYTES)

    assert dict(forth.tree.rows()) == {stack: values[::-1] for stack, values in back.tree.rows()}


@given(profiles, st.integers(1, 2**50))
def test_pruning_keeps_totals(profile: Profile, least: int) -> None:
    call_tree = tree.build(profile)
    totals = call_tree.totals(0)
    is_kept = totals >= min(least, totals[0])

    pruned = tree.prune(call_tree, is_kept)

    want = dict(zip(paths(call_tree), totals.tolist(), strict=True))
    for column in range(2):
        want = dict(zip(paths(call_tree), call_tree.totals(column).tolist(), strict=True))
        got = dict(zip(paths(pruned), pruned.totals(column).tolist(), strict=True))
        assert got == {path: want[path] for path in got}
    assert len(pruned) == is_kept.sum()


@given(profiles)
def test_a_functions_total_counts_recursion_once(profile: Profile) -> None:
    call_tree = tree.build(profile)

    values = tree.function_values(call_tree, 0)

    selfs: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for stack, (value, _) in profile.rows():
        selfs[stack[-1]] += value
        totals.update(dict.fromkeys(set(stack), value))
    assert {name: values.selfs[place] for place, name in enumerate(call_tree.names)} == {
        name: selfs[name] for name in call_tree.names
    }
    assert {name: values.totals[place] for place, name in enumerate(call_tree.names)} == {
        name: totals[name] for name in call_tree.names
    }


def test_recursion_of_depth_three_counts_once(profile_of: MakeProfile) -> None:
    call_tree = tree.build(profile_of({"a;a;a": 10}))

    values = tree.function_values(call_tree, 0)

    assert (values.selfs.tolist(), values.totals.tolist()) == ([10], [10])


def test_fractions_stay_exact_beside_a_giant(profile_of: MakeProfile) -> None:
    call_tree = tree.build(profile_of({"giant": 1e15, "small;a": 0.1, "small;b": 0.2}))

    totals = dict(zip(paths(call_tree), call_tree.totals(0).tolist(), strict=True))
    assert totals[("small",)] == pytest.approx(0.3, rel=1e-12)


def test_totals_above_2_to_the_53_are_exact(profile_of: MakeProfile) -> None:
    call_tree = tree.build(profile_of({"a;b": 2**62, "a;c": 1}))

    assert call_tree.total(0) == 2**62 + 1


@pytest.mark.parametrize("depth", [65_535, 65_536])
def test_stacks_may_be_65536_frames_deep(depth: int) -> None:
    deep, short = ["f"] * depth, ["f"] * (depth - 1) + ["g"]
    profile = Profile((ValueType(BYTES, "bytes", "level", ""),))
    profile.add(deep, [3])
    profile.add(short, [4])
    profile.add(["g"], [5])

    call_tree = tree.unpack(tree.pack(tree.build(profile)))

    assert call_tree.total(0) == 12
    assert len(call_tree) == depth + 3
    assert int(call_tree.depth.max()) == depth
    assert tree.function_values(call_tree, 0).totals[call_tree.names.index("f")] == 7


def test_deep_trees_are_merged_without_recursion(profile_of: MakeProfile) -> None:
    deep = tree.build(profile_of({";".join(["f"] * 5000): 3}))

    diff = tree.merge(deep, tree.build(profile_of({"f;g": 4})), BYTES)

    assert len(diff.tree) == 5002
    assert (diff.tree.total(0), diff.tree.total(1)) == (3, 4)


def test_too_many_nodes_are_refused(profile_of: MakeProfile) -> None:
    profile = profile_of({f"main;f{number}": 1 for number in range(20)})

    with pytest.raises(LimitExceeded, match="number of call tree nodes is more than 20, the limit is 20"):
        tree.build(profile, Limits(tree_nodes=20))


def test_a_profile_without_stacks_is_a_root_alone() -> None:
    empty = tree.build(Profile((ValueType(BYTES, "bytes", "level", ""),)))

    assert (len(empty), empty.total(0)) == (1, 0)
    assert tree.unpack(tree.pack(empty)).total(0) == 0
    assert len(tree.merge(empty, empty, BYTES).tree) == 1


def test_a_merge_of_whole_and_fractional_values_is_fractional(profile_of: MakeProfile) -> None:
    diff = tree.merge(tree.build(profile_of({"a": 1})), tree.build(profile_of({"a": 0.5})), BYTES)

    assert diff.value_type.is_float
    assert dict(diff.tree.rows()) == {("a",): [1.0, 0.5]}


def test_a_merge_names_the_value_types_that_there_are(profile_of: MakeProfile) -> None:
    call_tree = tree.build(profile_of({"a": 1}))

    with pytest.raises(KeyError, match="no value type 'calls', there is outstanding_bytes"):
        tree.merge(call_tree, call_tree, "calls")


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: b"XXXX" + packed[4:],
        lambda packed: packed[:-3],
        lambda packed: packed[:20],
        lambda packed: packed[:9] + b"\xff" + packed[10:],
        lambda packed: packed[:-8] + bytes(8),
    ],
)
def test_a_damaged_stored_tree_is_refused(profile_of: MakeProfile, damage: Callable[[bytes], bytes]) -> None:
    packed = tree.pack(tree.build(profile_of({"main;f": 1, "main;g": 2})))

    with pytest.raises(MalformedProfile):
        tree.unpack(damage(packed))


def test_threads_may_store_trees_at_once(profile_of: MakeProfile) -> None:
    call_tree = tree.build(profile_of({f"main;f{number};g{number % 7}": number for number in range(2000)}))
    want = tree.pack(call_tree)

    with ThreadPoolExecutor(8) as threads:
        packed = list(threads.map(lambda _: tree.pack(tree.unpack(tree.pack(call_tree))), range(64)))

    assert set(packed) == {want}
