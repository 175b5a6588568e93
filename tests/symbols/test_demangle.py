"""Names of C++ and Rust, and names that nobody would write."""

from __future__ import annotations

import time

import pytest

from tracer.symbols.demangle import MAX_NAME, demangled


@pytest.mark.parametrize(
    "mangled, written",
    [
        ("main", "main"),
        ("_start", "_start"),
        ("_ZN5store5IndexIlE6insertEl", "store::Index<long>::insert(long)"),
        ("_ZN5storeclEi", "store::operator()(int)"),
        ("_ZN12_GLOBAL__N_16hiddenEm", "(anonymous namespace)::hidden(unsigned long)"),
        ("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"),
        ("_Znwm", "operator new(unsigned long)"),
        ("_ZNSt6vectorIiE5clearEv@@GLIBCXX_3.4", "std::vector<int>::clear()"),
        ("_ZN5store4loadEv.cold", "store::load() [clone .cold]"),
    ],
)  # fmt: skip
def test_a_cxx_name_is_shown_as_it_was_written(mangled, written):
    assert demangled(mangled) == written


@pytest.mark.parametrize(
    "mangled, written",
    [
        ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
        ("_ZN5store4load17h0123456789abcdefE.llvm.123", "store::load"),
        ("_ZN5store4load28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "store::load::{{closure}}"),
        ("_ZN33_$LT$T$u20$as$u20$store..Load$GT$4load17h0123456789abcdefE", "<T as store::Load>::load"),
        ("_RNvNtCs1234_5store5index4load", "store::index::load"),
        ("_RNCNvCs1234_5store4load0B3_", "store::load::{closure#0}"),
        ("_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>"),
        ("_RNvMs_NtCs4fqI2P2rA04_4core3fmtNtB4_9Formatter9write_str", "<core::fmt::Formatter>::write_str"),
    ],
)  # fmt: skip
def test_pitfall_40_a_rust_name_of_either_kind_has_no_hash(mangled, written):
    assert demangled(mangled) == written


@pytest.mark.parametrize(
    "name", ["", "_Z", "_Zqqq", "_ZN5store", "_R", "_RZZ", "_RNvC", "_R" + "N" * 5000, "_Z" + "N" * 5000]
)
def test_what_is_no_mangled_name_is_left_as_it_is(name):
    assert demangled(name) == name


def test_a_name_beyond_all_measure_is_cut():
    assert demangled("x" * 1_000_000) == "x" * (MAX_NAME - 1) + "…"


def bomb(doublings: int) -> str:
    """A C++ name whose parameters each are a pair of the one before, twice."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    pairs = "".join(f"S_IS{digits[n]}_S{digits[n]}_E" for n in range(doublings))
    return f"_Z1fSt4pairIiiE{pairs}"


def rust_bomb(doublings: int) -> str:
    """A Rust name whose generic arguments each are a pair of the one before, twice."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def reference(place: int) -> str:
        place, text = place - 1, ""
        while place or not text:
            text, place = digits[place % 62] + text, place // 62
        return f"B{text}_"

    name, last = "INvC1a1bTmmE", 8
    for _ in range(doublings):
        name, last = f"{name}T{reference(last) * 2}E", len(name)
    return f"_R{name}E"


@pytest.mark.parametrize("made", [bomb, rust_bomb])
@pytest.mark.parametrize("doublings", [2, 8, 30])
def test_a_name_that_doubles_with_each_parameter_takes_no_time(made, doublings):
    began = time.process_time()

    shown = demangled(made(doublings))

    assert len(shown) <= MAX_NAME
    assert time.process_time() - began < 1
