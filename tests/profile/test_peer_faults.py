"""Faults that users reported of other tools, with the numbers of docs/peer-faults.md: what memflame does instead."""

from __future__ import annotations

import io
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.made_files import pprof
from tracer import protocol
from tracer.profile import tree
from tracer.profile.comparable import Counted, why_not
from tracer.profile.errors import ProfileError, UnrecognizedFormat
from tracer.profile.export.difference import scale_to_after, write_difference
from tracer.profile.export.folded import write_one_column
from tracer.profile.export.pprof import write_pprof
from tracer.profile.export.speedscope import write_speedscope
from tracer.profile.folded import write_folded
from tracer.profile.formats import read_profile
from tracer.profile.model import Profile

Sides = dict[str, tuple[str, str]]


def read(text: str | bytes) -> Profile:
    raw = text.encode() if isinstance(text, str) else text
    return read_profile(io.BytesIO(raw), resolve=protocol.value_type_named)


def diff(before: str | Profile, after: str | Profile, *, normalize: bool = False) -> Sides:
    sides = [read(side) if isinstance(side, str) else side for side in (before, after)]
    merged = tree.merge(*map(tree.build, sides), sides[0].value_types[0].name)
    out = io.StringIO()
    write_difference(merged, out, scale=scale_to_after(merged) if normalize else Fraction(1))
    rows = (line.rsplit(" ", 2) for line in out.getvalue().splitlines())
    return {stack: (before, after) for stack, before, after in rows}


def one_column(profile: Profile) -> str:
    out = io.StringIO()
    write_one_column(profile, 0, out)
    return out.getvalue()


def test_t01_a_negative_count_is_kept() -> None:
    assert diff("main;a -5\n", "main;a 3\n") == {"main;a": ("-5", "3")}


def test_t02_scaling_never_turns_a_value_into_0() -> None:
    sides = diff("small 1\nbig 1000\n", "small 1\nbig 400\n", normalize=True)

    assert 0 < float(sides["small"][0]) < 1


def test_t03_an_empty_baseline_is_no_division_by_zero() -> None:
    empty = Profile(read("main;a 1\n").value_types)

    assert diff(empty, "main;a 3\n") == {"main;a": ("0", "3")}
    with pytest.raises(ValueError, match="no factor makes them equal"):
        diff(empty, "main;a 3\n", normalize=True)


def test_t04_a_parent_grows_by_what_its_children_grow() -> None:
    merged = tree.merge(
        tree.build(read("parent;a 10\nparent;b 10\n")), tree.build(read("parent;a 30\nparent;b 30\n")), "value"
    )

    assert (merged.tree.total(0), merged.tree.total(1)) == (20, 60)


def test_t05_a_stack_that_is_gone_stays_in_the_difference() -> None:
    assert diff("main;gone 40\nmain;kept 10\n", "main;kept 10\n")["main;gone"] == ("40", "0")


def test_t06_a_stack_that_vanished_has_its_own_value_before() -> None:
    assert diff("main;foo 2\nmain;foo;bar 4\n", "main;foo 1\n") == {"main;foo": ("2", "1"), "main;foo;bar": ("4", "0")}


def test_t07_both_directions_have_the_same_numbers() -> None:
    before, after = "main;both 25\nmain;x 7\n", "main;both 50\nmain;y 9\n"

    assert {stack: (b, a) for stack, (a, b) in diff(after, before).items()} == diff(before, after)


def test_t08_a_name_that_ends_in_a_number_is_a_name() -> None:
    assert read("main;do work 7 3\n").values_by_stack == {("main", "do work 7"): [3]}


def test_t09_a_line_that_is_not_read_is_counted_and_shown() -> None:
    profile = read("main;a 5\nmain;a five\nmain;b 10\n")

    assert (profile.total(), profile.skipped_lines, profile.skipped[0].number) == (15, 1, 2)


def test_t10_a_number_with_an_exponent_is_refused_in_words() -> None:
    with pytest.raises(UnrecognizedFormat, match=r"line 1 is 'main;x 1.5e9': expected a value at its end"):
        read("main;x 1.5e9\n")


def test_t12_values_beyond_2_to_the_53_are_exact() -> None:
    large = 9_007_199_254_740_993

    assert diff(f"main;a {large}\n", f"main;a {large + 1}\n") == {"main;a": (str(large), str(large + 1))}
    assert one_column(read(f"main;a {large}\nmain;a 1\n")) == f"main;a {large + 1}\n"


@pytest.mark.parametrize(
    "name",
    [
        "std::_Function_handler<void (vg::Alignment&), main::{lambda(vg::Alignment&)#1}>::_M_invoke",
        "foo<(some_enum)0>::bar",
        "(anonymous namespace)::grow(unsigned long)",
    ],
)
def test_t13_a_name_is_never_cut_at_a_parenthesis(name: str) -> None:
    perf = f"svc 7 1.5: 3 faults:\n\t1 {name}+0x1 (/srv/a (deleted))\n"

    assert read(perf).values_by_stack == {("svc", name): [3]}
    assert read(f"main;{name} 3\n").values_by_stack == {("main", name): [3]}


def test_t14_angle_brackets_stay_in_names() -> None:
    name = "std::vector<int, std::allocator<int> >::push_back"

    assert one_column(read(f"{name} 3\n")) == f"{name} 3\n"


def test_t15_a_semicolon_in_a_name_makes_no_second_frame() -> None:
    profile = Profile(read("a 1\n").value_types)
    profile.add(["sh -c a; b", "malloc"], [3])
    ours = io.BytesIO()
    write_folded(profile, ours)

    assert read(ours.getvalue()).values_by_stack == {("sh -c a; b", "malloc"): [3]}
    assert one_column(profile) == "sh -c a: b;malloc 3\n"


def test_t16_names_that_python_3_wrote_as_bytes_are_names() -> None:
    banner = "Tracing 1 functions for \"b'c:malloc'\"... Hit Ctrl-C to end.\n\n"

    stacks = read(f"{banner}  b'malloc'\n  b'main'\n    b'svc' [7]\n    3\n").values_by_stack

    assert stacks == {("svc [7]", "main", "malloc"): [3]}
    assert read("b'svc';b'main';b'malloc' 3\n").values_by_stack == {("svc", "main", "malloc"): [3]}


def test_t17_a_function_is_the_same_wherever_it_was_mapped() -> None:
    heap = "heap profile: 1: 3 [1: 3] @ heapprofile\n1: 3 [1: 3] @ 0x{0}2345\n\nMAPPED_LIBRARIES:\n"
    maps = "{0}0000-{0}9000 r-xp 00001000 08:02 17 /srv/search-api\n"
    first, second = (read((heap + maps).format(base)) for base in ("7f0", "55d"))

    assert diff(first, second) == {"search-api+0x3345": ("3", "3")}


def test_t29_a_negative_sample_of_pprof_is_a_decrease() -> None:
    out = io.BytesIO()
    write_pprof(read("main;a -4096\nmain;b 8\n"), out)

    profile = read(out.getvalue())

    assert profile.values_by_stack == {("main", "a"): [-4096], ("main", "b"): [8]}
    assert profile.value_types[0].is_signed


def test_t33_each_stack_is_scaled_by_its_own_sampling() -> None:
    fine, coarse = (
        read(f"heap_v2/{rate}\n  t*: 1: 4096 [0: 0]\n@ 0x10\n  t*: {count}: {count * 4096} [0: 0]\n")
        for rate, count in ((1, 1000), (524_288, 8))
    )

    assert fine.total() == 4_096_000
    assert coarse.total() == pytest.approx(8 * 524_288, rel=0.01)


def test_t33_samples_of_other_rates_are_refused_unless_they_are_scaled() -> None:
    sides = [read(pprof(["main"], count, counts=("samples", "count"), period_ms=ms)) for count, ms in ((9, 1), (1, 9))]
    counted = [Counted(side.value_types[0].name, side.value_types[0].unit, "flow", side.capture) for side in sides]

    assert why_not(counted[0], counted[1]) == (
        "samples counts samples, one every 1 milliseconds of cpu before and every 9 milliseconds of cpu after: "
        "they stand for different amounts."
    )
    assert why_not(counted[0], counted[0]) == why_not(counted[0], counted[1], is_scaled=True) == ""


def test_t35_reports_of_a_level_are_never_added() -> None:
    head = "[10:00:0{0}] Top 10 stacks with outstanding allocations:\n"
    report = head + "\t{1} bytes in 1 allocations from stack\n\t\tf+0x1 [a]\n"

    assert read(report.format(1, 900) + report.format(2, 500)).total() == 500


def test_t36_a_memleak_file_without_a_stack_is_refused() -> None:
    with pytest.raises(ProfileError, match="memleak printed no report"):
        read("Attaching to pid 7, Ctrl+C to quit.\n")


def test_t44_names_of_rust_and_of_anonymous_namespaces_stay_apart() -> None:
    names = ["core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "(anonymous namespace)::single_thread()"]

    assert read(f"{';'.join(names)} 3\n").values_by_stack == {tuple(names): [3]}


def test_t46_a_frame_without_a_name_is_kept() -> None:
    perf = "svc 7 1.5: 3 faults:\n\t1 [unknown] (/lib/libx.so)\n\t2 [unknown] ([unknown])\n\t3 main+0x1 (/a)\n"

    assert read(perf).values_by_stack == {("svc", "main", "[unknown]", "[libx.so]"): [3]}


def test_t47_an_inlined_function_stands_below_its_caller() -> None:
    perf = "svc 7 1.5: 3 faults:\n\t1 inner (inlined)\n\t1 middle (inlined)\n\t1 outer+0x1 (/a)\n"

    assert read(perf).values_by_stack == {("svc", "outer", "middle", "inner"): [3]}


# --- properties -------------------------------------------------------------------------------------------------------

_SPECIAL = st.sampled_from(";\\\n\r\t \"'`<>&#()[]{}\u2028\u202e\x1b$,:0")
_HOSTILE = st.text(_SPECIAL | st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
_LARGE = st.integers(-(2**60), 2**60)
_FRAMES = st.lists(_HOSTILE, min_size=1, max_size=5).map(tuple)
_STACKS = st.dictionaries(_FRAMES, _LARGE, min_size=1, max_size=6)
_SIZES = st.lists(st.integers(1, 2**40), min_size=1, max_size=5)


def profile_of(value_by_stack: dict[tuple[str, ...], int]) -> Profile:
    profile = Profile(read("a -1\n").value_types)
    for stack, value in value_by_stack.items():
        profile.add(stack, [value])
    return profile


@given(value_by_stack=_STACKS)
@settings(max_examples=40)
def test_any_names_and_values_come_back_from_pprof_and_our_form(value_by_stack: dict[tuple[str, ...], int]) -> None:
    profile = profile_of(value_by_stack)
    packed, ours = io.BytesIO(), io.BytesIO()
    write_pprof(profile, packed)
    write_folded(profile, ours)

    for raw in (packed.getvalue(), ours.getvalue()):
        assert read(raw).values_by_stack == {stack: [value] for stack, value in value_by_stack.items()}
        assert one_column(read(raw)) == one_column(profile)


@given(value_by_stack=st.dictionaries(_FRAMES, st.integers(1, 2**53), min_size=1, max_size=6))
@settings(max_examples=40)
def test_any_names_and_positive_values_come_back_from_speedscope(value_by_stack: dict[tuple[str, ...], int]) -> None:
    profile, out = profile_of(value_by_stack), io.StringIO()
    write_speedscope(profile, out)

    assert one_column(read(out.getvalue())) == one_column(profile)


@given(before=_STACKS, after=_STACKS)
@settings(max_examples=30)
def test_a_difference_has_each_value_of_both_sides(
    before: dict[tuple[str, ...], int], after: dict[tuple[str, ...], int]
) -> None:
    sides = diff(profile_of(before), profile_of(after))

    assert sum(int(values[0]) for values in sides.values()) == sum(before.values())
    assert sum(int(values[1]) for values in sides.values()) == sum(after.values())


@given(before=_SIZES, after=_SIZES)
@settings(max_examples=30)
def test_a_scaled_value_is_never_0(before: list[int], after: list[int]) -> None:
    texts = ["".join(f"f{place} {value}\n" for place, value in enumerate(side)) for side in (before, after)]

    sides = diff(*texts, normalize=True)

    assert all(float(sides[f"f{place}"][0]) > 0 for place in range(len(before)))
    assert sum(float(values[0]) for values in sides.values()) == pytest.approx(sum(after), rel=1e-9)
