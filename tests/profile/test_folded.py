"""Our folded form and one-column folded text, read and written."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer import protocol
from tracer.profile.errors import EmptyProfile, MalformedProfile, UnrecognizedFormat
from tracer.profile.folded import read_folded, write_folded
from tracer.profile.model import Profile, ValueType

names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
stacks = st.lists(names, min_size=1, max_size=6)
whole = st.integers(-(2**40), 2**40)
fractions = st.floats(-1e9, 1e9, allow_nan=False)


def read(text: bytes, columns: int | None = None) -> Profile:
    return read_folded(io.BytesIO(text), resolve=protocol.value_type_named, columns=columns)


def written(profile: Profile) -> bytes:
    out = io.BytesIO()
    write_folded(profile, out)
    return out.getvalue()


@given(st.lists(st.tuples(stacks, whole, fractions), min_size=1, max_size=20))
def test_what_is_written_reads_back_the_same(rows: list[tuple[list[str], int, float]]) -> None:
    profile = Profile(
        (ValueType("calls", "calls", "flow", ""), ValueType("weight", "bytes", "flow", "", is_float=True))
    )
    for stack, count, weight in rows:
        profile.add(stack, [count, weight])

    again = read(written(profile))

    assert again.values_by_stack == profile.values_by_stack
    assert [known.is_float for known in again.value_types] == [False, True]
    assert written(again) == written(profile)


@given(st.lists(st.tuples(st.lists(st.sampled_from(["a", "ab", "b", "b c"]), min_size=1), whole), min_size=1))
def test_each_line_counts_whatever_it_shares_with_the_one_before(rows: list[tuple[list[str], int]]) -> None:
    text = "".join(f"{';'.join(stack)} {value}\n" for stack, value in rows)

    profile = read(text.encode())

    want: Counter[tuple[str, ...]] = Counter()
    for stack, value in rows:
        want[tuple(stack)] += value
    assert {stack: value for stack, (value,) in profile.rows()} == want


def test_the_header_keeps_value_types_and_capture() -> None:
    capture = {"collector": "malloc", "pid": 3, "lost": {"stack_map_full": 2}}
    profile = Profile(protocol.COLLECTORS["malloc"].value_types, capture=capture)
    profile.add(["main", "load_index", "malloc"], [4096, 1, 8192, 2])

    again = read(written(profile))

    assert again.value_types == protocol.COLLECTORS["malloc"].value_types
    assert again.capture == capture


def test_the_form_is_the_documented_one() -> None:
    profile = Profile(protocol.COLLECTORS["page_faults"].value_types)
    profile.add(["main", "a;b", "c\\d\ne"], [2, 0])
    profile.add(["#first"], [1, 1])

    assert written(profile).decode() == (
        "# memflame-folded 1\n# values: minor_faults major_faults\n\\#first 1 1\nmain;a\\;b;c\\\\d\\ne 2 0\n"
    )


def test_it_writes_to_a_text_stream_too() -> None:
    profile = Profile((ValueType("calls", "calls", "flow", ""),))
    profile.add(["main"], [1])
    out = io.StringIO()

    write_folded(profile, out)

    assert out.getvalue() == "# memflame-folded 1\n# values: calls\nmain 1\n"


def test_the_last_field_is_the_value_whatever_the_name_ends_in() -> None:
    profile = read(b"main;operator new(unsigned long) 5\nmain;f 12 7\nmain;g\t 3\n")

    assert profile.values_by_stack == {
        ("main", "operator new(unsigned long)"): [5],
        ("main", "f 12"): [7],
        ("main", "g"): [3],
    }


def test_the_same_stack_again_adds_up() -> None:
    assert read(b"a;b 1\na;c 5\na;b 2\n").values_by_stack == {("a", "b"): [3], ("a", "c"): [5]}


def test_several_columns_are_read_when_told() -> None:
    profile = read(b"a;b 1 2\na;c 3 4\n", columns=2)

    assert profile.values_by_stack == {("a", "b"): [1, 2], ("a", "c"): [3, 4]}
    assert [known.name for known in profile.value_types] == ["value_1", "value_2"]


def test_crlf_trailing_semicolons_and_a_missing_last_newline_are_no_trouble() -> None:
    assert read(b"a;b; 1\r\na;b 2").values_by_stack == {("a", "b"): [3]}


def test_one_fraction_makes_the_whole_value_type_float() -> None:
    profile = read(b"a 1\nb 2.5\n")

    assert profile.value_types[0].is_float
    assert [type(value) for (value,) in profile.values_by_stack.values()] == [float, float]


def test_fractions_of_zero_are_whole_numbers() -> None:
    profile = read(b"a 1.0\nb 2.0\n")

    assert not profile.value_types[0].is_float
    assert profile.values_by_stack == {("a",): [1], ("b",): [2]}


def test_a_negative_value_makes_the_value_type_signed() -> None:
    assert read(b"a -4096\nb 1\n").value_types[0].is_signed


def test_lines_without_a_value_are_skipped_counted_and_shown() -> None:
    profile = read(b"# made by hand\n// so was this\n\na;b 1\nno value here\nf 12V.43\na 1_000\n;; 4\n")

    assert profile.values_by_stack == {("a", "b"): [1]}
    assert profile.skipped_lines == 6
    assert [(line.number, line.text) for line in profile.skipped] == [
        (1, "# made by hand"),
        (2, "// so was this"),
        (5, "no value here"),
        (6, "f 12V.43"),
        (7, "a 1_000"),
        (8, ";; 4"),
    ]


def test_a_line_of_our_form_with_too_few_values_is_skipped() -> None:
    profile = read(b"# memflame-folded 1\n# values: calls failed_calls\nmain 1\nmain 1 2\n")

    assert profile.values_by_stack == {("main",): [1, 2]}
    assert profile.skipped[0].reason == "expected 2 values at its end"


def test_the_banner_of_stackcount_is_no_bad_line() -> None:
    profile = read(b'Tracing 1 functions for "c:malloc"... Hit Ctrl-C to end.\n^Cbash;main 3\n')

    assert profile.values_by_stack == {("bash", "main"): [3]}
    assert profile.skipped_lines == 0


def test_bytes_that_are_not_utf8_are_replaced_and_noted() -> None:
    profile = read(b"main;\xff\xfe 1\nmain;\xc3\xbc 2\n")

    assert ("main", "\ufffd\ufffd") in profile.values_by_stack
    assert profile.capture["notes"] == ["1 frame names hold bytes that are not UTF-8, shown as \ufffd"]


def test_a_recording_in_which_nothing_happened_is_empty_and_valid() -> None:
    profile = read(b'# memflame-folded 1\n# values: calls\n# capture: {"collector": "brk", "events": 0}\n')

    assert (profile.stack_count, profile.total()) == (0, 0)


def test_a_recording_of_bad_lines_only_is_refused() -> None:
    with pytest.raises(EmptyProfile, match="holds no stack; 1 lines were skipped"):
        read(b'# memflame-folded 1\n# values: calls\n# capture: {"collector": "brk"}\nmain x\n')


def test_control_and_bidi_characters_are_kept() -> None:
    assert ("a\x1b[31m", "\u202eevil") in read("a\x1b[31m;\u202eevil 1\n".encode()).values_by_stack


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (b"", EmptyProfile, "the file is empty"),
        (b"# only a comment\n", EmptyProfile, "holds no stack"),
        (b"# memflame-folded 1\n# values: calls\n", EmptyProfile, "no stack was recorded"),
        (b"# memflame-folded 1\n# values: calls\nmain x\n", EmptyProfile, "holds no stack; 1 lines were skipped"),
        (b"dear reader,\nthis is prose\n", UnrecognizedFormat, "line 1 is 'dear reader,'"),
        (b"# memflame-folded 2\n# values: a\nmain 1\n", MalformedProfile, "line 1 is '# memflame-folded 2'"),
        (b"# memflame-folded 1\nmain 1\n", MalformedProfile, "no line '# values: "),
        (b"# memflame-folded 1\n# values: a a\nmain 1 1\n", MalformedProfile, "line 2: value types are named twice"),
        (b"# memflame-folded 1\n# values: a\n# capture: [1]\nmain 1\n", MalformedProfile, "line 3"),
        (b"# memflame-folded 1\n# values: a\n# capture: {\nmain 1\n", MalformedProfile, "line 3"),
        (b'# memflame-folded 1\n# values: a\n# capture: {"a": NaN}\nmain 1\n', MalformedProfile, "NaN"),
        (b'# memflame-folded 1\n# values: a\n# capture: {"a": "\\u0000"}\nmain 1\n', MalformedProfile, "NUL"),
        (b'# memflame-folded 1\n# values: a\n# capture: {"a": "\\ud800"}\nmain 1\n', MalformedProfile, "line 3"),
        (b"# memflame-folded 1\n# values: a\n# capture: " + b"[" * 100_000 + b"\nmain 1\n", MalformedProfile, "line 3"),
        (b"a;b 1\na\0b 2\n", MalformedProfile, "line 2 holds a NUL"),
        (b"a " + b"9" * 401 + b"\n", MalformedProfile, "line 1"),
    ],
)
def test_it_refuses(text: bytes, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        read(text)

    assert words in str(caught.value)
