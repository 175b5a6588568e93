"""How stacks are found by what keeps frame pointers: programs built with them, without, and mixed."""

from __future__ import annotations

import pytest

from tracer.collectors.unwind_choice import UnwindChoice, chosen_unwind
from tracer.process.address_space import AddressSpace
from tracer.process.frame_pointers import modules_without_frame_pointers
from tracer.process.target import Target
from tracer.protocol import RunSpec


def chosen(workload, **options):
    """How the stacks of a program would be found, with its modules without frame pointers."""
    target = Target(workload.pid)
    space = AddressSpace(target)
    try:
        choice = chosen_unwind(RunSpec("", "malloc", workload.pid, options=options), space)
        return [use.module for use in modules_without_frame_pointers(space)], choice
    finally:
        space.close()
        target.close()


@pytest.mark.parametrize("name", ["touch", "stacks", "leaky", "library_user", "library_user-fixed"])
def test_a_program_that_is_built_with_frame_pointers_is_walked_along_them(launch, name):
    assert chosen(launch(name)) == ([], UnwindChoice("fp", "All main modules keep frame pointers."))


@pytest.mark.parametrize("name", ["touch-frameless", "heap-frameless", "copies-frameless"])
def test_a_program_that_is_built_without_is_unwound(launch, name):
    assert chosen(launch(name)) == ([name], UnwindChoice("dwarf", f"{name} keeps no frame pointers."))


def test_a_program_that_is_linked_statically_has_the_c_library_inside(launch):
    without, choice = chosen(launch("leaky-static"))

    assert without == ["leaky-static"]
    assert choice.is_dwarf


def test_a_library_without_frame_pointers_is_enough_to_unwind(launch, programs):
    workload = launch("library_user", LD_LIBRARY_PATH=str(programs / "frameless"))

    assert chosen(workload) == (["libkeeper.so"], UnwindChoice("dwarf", "libkeeper.so keeps no frame pointers."))


def test_several_modules_without_are_listed(launch):
    without, choice = chosen(launch("allocations-frameless"))

    assert without[0] == "allocations-frameless"
    assert without[1].startswith("libstdc++.so.6")
    assert choice.reason == f"{without[0]} and {without[1]} keep no frame pointers."


@pytest.mark.parametrize("unwind", ["fp", "dwarf"])
def test_what_is_asked_for_is_done_without_a_reason(launch, unwind):
    assert chosen(launch("touch"), unwind=unwind)[1] == UnwindChoice(unwind)
