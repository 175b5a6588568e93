"""Walks along frame pointers beside unwindings of the same stack."""

from __future__ import annotations

from tracer.collectors.stacks import MAX_FRAMES, CapturedStack, RawStack
from tracer.collectors.walks import stack_of_walk

# Leaf first; of callers the unwinding has the call, the walk where it returns to.
UNWOUND = CapturedStack((0x10, 0x1F, 0x2F, 0x3F, 0x4F, 0x5F))


def test_a_walk_up_to_the_start_code_is_right_and_gets_the_unwound_root():
    assert stack_of_walk(RawStack(0, 0, (0x10, 0x20, 0x30, 0x40)), UNWOUND) == UNWOUND


def test_what_a_walk_finds_beyond_the_root_does_not_matter():
    assert stack_of_walk(RawStack(0, 0, (0x10, 0x20, 0x30, 0x40, 0x77, 0x88)), UNWOUND) == UNWOUND


def test_a_walk_that_misses_a_caller_is_right_if_that_one_was_on_top_of_the_stack():
    assert stack_of_walk(RawStack(0, 0x20, (0x10, 0x30, 0x40)), UNWOUND) == UNWOUND
    assert stack_of_walk(RawStack(0, 0x70, (0x10, 0x30, 0x40)), UNWOUND) is None


def test_a_walk_that_ends_in_the_middle_is_wrong():
    assert stack_of_walk(RawStack(0, 0, (0x10, 0x20, 0x30)), UNWOUND) is None


def test_a_walk_that_could_not_be_made_is_wrong():
    assert stack_of_walk(RawStack(0, 0, ()), UNWOUND) is None


def test_a_walk_is_longer_than_what_was_copied_of_the_stack():
    unwound = CapturedStack((0x10, 0x1F, 0x2F), is_truncated=True)

    stack = stack_of_walk(RawStack(0, 0, (0x10, 0x20, 0x30, 0x40, 0x50)), unwound)

    assert stack == CapturedStack((0x10, 0x1F, 0x2F, 0x3F, 0x4F))


def test_a_broken_unwinding_proves_no_walk():
    unwound = CapturedStack((0x10, 0x1F), is_broken=True)

    assert stack_of_walk(RawStack(0, 0, (0x10, 0x20)), unwound) is None


def test_a_walk_as_long_as_walks_get_is_right_and_truncated_though_the_unwinding_went_on():
    walk = RawStack(0, 0, (0x10, *range(0x20, 0x1F + MAX_FRAMES)))
    unwound = CapturedStack((0x10, *range(0x1F, 0x300)))

    stack = stack_of_walk(walk, unwound)

    assert stack == CapturedStack(unwound.addresses[:MAX_FRAMES], is_truncated=True)


def test_a_walk_that_ends_before_a_truncated_unwinding_does_is_wrong():
    unwound = CapturedStack((0x10, 0x1F, 0x2F, 0x3F), is_truncated=True)

    assert stack_of_walk(RawStack(0, 0, (0x10, 0x20, 0x30)), unwound) is None
