"""Captured stacks to frames."""

from __future__ import annotations

import struct

from tracer.collectors.allocator_functions import LEAVES
from tracer.collectors.malloc import stack_at_return
from tracer.collectors.naming import Naming
from tracer.collectors.stacks import CapturedStack, RawStack, failures
from tracer.process.names import Name

NAMES = {
    0x10: Name("main", True),
    0x20: Name("serve", True),
    0x30: Name("libc.so.6+0x30", False, "libc.so.6"),
    0x40: Name("plugin.so+0x40", False, "plugin.so"),
}
INLINED = (Name("outer", True), Name("inner", True))


class Names:
    """Of two functions, two nameless places, and a function with another one inlined."""

    def __init__(self, *root: str) -> None:
        self._root = root

    def frames(self, stack: CapturedStack) -> list[Name]:
        found = (INLINED if address == 0x50 else (NAMES[address],) for address in reversed(stack.addresses))
        return [name for names in found for name in names]

    def root(self, stack: CapturedStack) -> tuple[str, ...]:
        return self._root


def test_frames_are_root_first_with_the_leaf_last():
    assert Naming(Names()).frames(CapturedStack((0x20, 0x10), "malloc")) == ("main", "serve", "malloc")


def test_the_process_stands_above_all_other_frames():
    stacks = [CapturedStack((0x20,), is_truncated=True), CapturedStack((), "malloc")]

    named = [Naming(Names("worker (12)")).frames(stack) for stack in stacks]

    assert named == [("worker (12)", "[truncated]", "serve"), ("worker (12)", "[stack not recorded]", "malloc")]


def test_a_truncated_stack_says_so_at_its_root_and_is_counted():
    naming = Naming(Names())

    assert naming.frames(CapturedStack((0x20,), is_truncated=True)) == ("[truncated]", "serve")
    assert naming.truncated_stacks == 1


def test_a_broken_unwinding_says_so_at_its_root_and_is_counted():
    naming = Naming(Names())

    assert naming.frames(CapturedStack((0x20,), is_broken=True)) == ("[broken unwind]", "serve")
    assert (naming.broken_unwinds, naming.truncated_stacks) == (1, 0)


def test_a_leaf_that_was_not_unwound_says_so_at_its_root():
    assert Naming(Names()).frames(CapturedStack((0x20,), is_callerless=True)) == ("[caller not unwound]", "serve")
    assert Naming(Names()).frames(CapturedStack((), is_callerless=True)) == ("[caller not unwound]",)


def test_a_lost_stack_keeps_its_leaf():
    assert Naming(Names()).frames(CapturedStack((), "malloc")) == ("[stack not recorded]", "malloc")


def test_inlined_functions_are_frames_of_their_own_below_the_one_they_are_in():
    naming = Naming(Names())

    assert naming.frames(CapturedStack((0x20, 0x50, 0x10), "malloc")) == ("main", "outer", "inner", "serve", "malloc")
    assert naming.frame_count == 4


def test_unresolved_frames_are_counted_among_all_with_their_modules():
    naming = Naming(Names())

    naming.frames(CapturedStack((0x40, 0x20, 0x10)))

    assert (naming.unresolved_frames, naming.frame_count, naming.unresolved_modules) == (1, 3, {"plugin.so"})


def test_inner_frames_of_a_stripped_c_library_are_not_counted():
    naming = Naming(Names())

    assert naming.frames(CapturedStack((0x30, 0x10, 0x30))) == ("libc.so.6+0x30", "main", "libc.so.6+0x30")
    assert naming.unresolved_frames == 0


def test_a_stack_without_any_name_is_counted_whole():
    naming = Naming(Names())

    naming.frames(CapturedStack((0x30, 0x30)))

    assert naming.unresolved_frames == 2


def test_return_addresses_are_looked_up_inside_of_the_call():
    stack = stack_at_return(RawStack(0, 0, (0x1005, 0x2005)))

    assert stack == CapturedStack((0x1004, 0x2004), "malloc")


def test_the_caller_of_a_frameless_operator_new_takes_its_place():
    new = LEAVES.index("operator new")

    stack = stack_at_return(RawStack(new, 0x3005, (0xAAAA, 0x2005)))  # malloc returns to operator new, at 0xAAAA

    assert stack == CapturedStack((0x3004, 0x2004), "operator new")


def test_frames_of_operators_new_that_keep_them_are_left_out():
    new = LEAVES.index("operator new[]")

    stack = stack_at_return(RawStack(new, 0x3005, (0xAAAA, 0xBBBB, 0x3005, 0x2005)))

    assert stack == CapturedStack((0x3004, 0x2004), "operator new[]")


def test_stacks_that_could_not_be_read_are_told_by_the_name_of_the_error():
    entries = [(struct.pack("=I", number), struct.pack("=Q", count)) for number, count in ((14, 3), (0, 1))]

    assert failures(entries) == {"error 0": 1, "EFAULT": 3}
