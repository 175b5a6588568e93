"""Which modules of a running program keep no frame pointers: programs built with them, without, and mixed."""

from __future__ import annotations

import pytest

from tracer.process.address_space import AddressSpace
from tracer.process.frame_pointers import modules_without_frame_pointers
from tracer.process.target import Target
from tracer.symbols.cache import SymbolCache


def frameless_modules(workload):
    target = Target(workload.pid)
    space = AddressSpace(target, SymbolCache())
    try:
        return [use.module for use in modules_without_frame_pointers(space)]
    finally:
        space.close()
        target.close()


@pytest.mark.parametrize("name", ["touch", "stacks", "leaky", "library_user", "library_user-fixed"])
def test_a_program_that_is_built_with_frame_pointers_has_no_module_without(launch, name):
    assert frameless_modules(launch(name)) == []


@pytest.mark.parametrize("name", ["touch-frameless", "heap-frameless", "copies-frameless"])
def test_a_program_that_is_built_without_is_named(launch, name):
    assert frameless_modules(launch(name)) == [name]


def test_a_program_that_is_linked_statically_has_the_c_library_inside(launch):
    assert frameless_modules(launch("leaky-static")) == ["leaky-static"]


def test_a_library_without_frame_pointers_is_named_in_a_program_with(launch, programs):
    workload = launch("library_user", LD_LIBRARY_PATH=str(programs / "frameless"))

    assert frameless_modules(workload) == ["libkeeper.so"]
