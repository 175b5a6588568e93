"""What names are aligned by: rules, patterns, and trees under the new names."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer import protocol
from tracer.profile import tree
from tracer.profile.alignment import RULES, Alignment, BadAlignment
from tracer.profile.folded import read_folded
from tracer.profile.tree import CallTree


def tree_of(folded: str) -> CallTree:
    return tree.build(read_folded(io.BytesIO(folded.encode()), resolve=protocol.value_type_named))


def stacks(call_tree: CallTree) -> dict[str, int]:
    found: dict[str, int] = {}
    for stack, values in call_tree.rows():
        found[";".join(stack)] = found.get(";".join(stack), 0) + int(values[0])
    return found


@pytest.mark.parametrize("name", RULES)
def test_each_rule_does_what_its_example_says(name: str) -> None:
    before, after = RULES[name].example

    assert Alignment.parse(name).name_of(before) == after


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        ("hashes", "alloc::vec::Vec<T>::push::h00ff00ff00ff00ff", "alloc::vec::Vec<T>::push"),
        ("hashes", "parse.constprop.0.isra.1", "parse"),
        ("hashes", "parse [clone .cold.12]", "parse"),
        ("hashes", "half::hash", "half::hash"),
        ("lambdas", "main::$_7::operator()", "main::$_::operator()"),
        ("lambdas", "main.func1.2", "main.func"),
        ("lambdas", "App$$Lambda$14/0x0000000800c", "App$$Lambda"),
        ("templates", "std::map<int, std::vector<long>>::find", "std::map<>::find"),
        ("templates", "operator<< <char>", "operator<< <>"),
        ("templates", "a < b", "a < b"),
        ("templates", "Node::operator->", "Node::operator->"),
        ("versions", "absl::lts_20240116::Cord::Append", "absl::Cord::Append"),
        ("versions", "std::__cxx11::string::reserve", "std::string::reserve"),
        ("versions", "github.com/acme/db@v1.22.3/rows.Next", "github.com/acme/db/rows.Next"),
        ("addresses", "0x7f00aa11", ""),
        ("wrappers", "std::__invoke_impl<void, F>", ""),
        ("wrappers", "invoke_payment", "invoke_payment"),
    ],
)
def test_rules_leave_out_what_differs_between_builds(rule: str, old: str, new: str) -> None:
    assert Alignment.parse(rule).name_of(old) == new


def test_rules_come_first_then_patterns_in_their_order() -> None:
    alignment = Alignment.parse("~handle_%5Cd%2B~handle;hashes;~handle~serve")

    assert alignment.name_of("handle_12::h0123456789abcdef") == "serve"
    assert alignment.text == "hashes;~handle_%5Cd%2B~handle;~handle~serve"
    assert Alignment.parse(alignment.text) == alignment


@given(st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text(max_size=20)), max_size=3))
def test_an_address_gives_back_any_pattern(pairs: list[tuple[str, str]]) -> None:
    text = Alignment((), tuple(pairs)).text

    try:
        assert Alignment.parse(text).replacements == tuple(pairs)
    except BadAlignment as error:
        assert "RE2" in str(error)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hashs", "no rule 'hashs', there is hashes, lambdas"),
        ("~%28a~b", "'(a' is no pattern that RE2 knows: missing )"),
        ("~(a)(?=b)~", "is no pattern that RE2 knows"),
        ("~a", "A pattern and what takes its place were expected"),
        ("~" + "a" * 501 + "~", "501 characters, the limit is 500"),
        (";".join(["~a~b"] * 21), "21 patterns, the limit is 20"),
        ("~a~%5C7", "RE2"),
    ],
)
def test_what_is_no_alignment_is_told(text: str, words: str) -> None:
    with pytest.raises(BadAlignment, match=words.replace("(", r"\(").replace(")", r"\)")):
        Alignment.parse(text)


def test_a_pattern_that_backtracks_elsewhere_takes_no_time() -> None:
    alignment = Alignment.parse("~%28a%2B%29%2B%24~b")
    begin = time.process_time()

    alignment.name_of("a" * 5000 + "!")

    assert time.process_time() - begin < 1


def test_siblings_that_become_one_name_are_one_node_of_the_difference() -> None:
    before = tree_of("main;f::h0000000000000001 5\nmain;f::h0000000000000002;g 7\n")
    after = tree_of("main;f::h0000000000000003;g 9\n")
    rules = Alignment.parse("hashes")

    diff = tree.merge(tree.aligned(before, rules), tree.aligned(after, rules), "value")

    assert {";".join(stack): values for stack, values in diff.tree.rows()} == {"main;f": [5, 0], "main;f;g": [7, 9]}


def test_a_frame_that_only_passes_on_counts_as_its_callers() -> None:
    found = tree.aligned(
        tree_of("main;start_thread;run;start_thread 4\nmain;start_thread 1\n"), Alignment.parse("wrappers")
    )

    assert stacks(found) == {"main;run": 4, "main": 1}


@given(
    st.dictionaries(
        st.lists(st.sampled_from(["a", "b1", "b2", "start_thread"]), min_size=1).map(";".join),
        st.integers(1, 99),
        min_size=1,
    )
)
def test_no_value_is_lost_and_a_tree_against_itself_has_no_change(values: dict[str, int]) -> None:
    original = tree_of("".join(f"{stack} {value}\n" for stack, value in values.items()))
    found = tree.aligned(original, Alignment.parse("wrappers;~%5Cd~"))

    diff = tree.merge(found, found, "value")

    assert found.total(0) == original.total(0)
    assert diff.tree.total(0) == diff.tree.total(1) == original.total(0)
    assert np.array_equal(diff.before, diff.after)
