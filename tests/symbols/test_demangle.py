"""C++ names, whole."""

from __future__ import annotations

import pytest

from tracer.symbols.demangle import demangled


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
    ],
)
def test_a_name_is_shown_as_it_was_written(mangled, written):
    assert demangled(mangled) == written


@pytest.mark.parametrize("name", ["_Z", "_Zqqq", "_ZN5store"])
def test_what_is_no_mangled_name_is_left_as_it_is(name):
    assert demangled(name) == name
