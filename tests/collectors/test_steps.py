"""Steps out of functions without a frame pointer, from stacks made by hand."""

from __future__ import annotations

import pytest

from tracer.collectors.steps import Step, missing_steps
from tracer.process.unwinder import Unwound

BOTTOM = 0x7000
# Leaf first; of callers the call, which is the return address less 1.
UNWOUND = Unwound((0x10, 0x1F, 0x2F), is_complete=True)
# The caller at 0x20 keeps a frame: its own return address at 48, below it the frame pointer of the one above.
CALLER = [(40, 0), (48, 0x30)]


def registers(frame_pointer: int) -> list[int]:
    values = [0] * 17
    values[6], values[7], values[16] = frame_pointer, BOTTOM, 0x10
    return values


@pytest.mark.parametrize(
    "frame_pointer, saved, step",
    [
        (0x123, [(0, 5), (8, BOTTOM + 40)], Step(16, 8)),
        (BOTTOM + 40, [(0, 5), (8, 6)], Step(16, -1)),
    ],
    ids=["saved in the stack", "still in its register"],
)
def test_the_callers_frame_pointer_is_found(frame_pointer, saved, step):
    reads = [*saved, (16, 0x20), *CALLER]

    assert missing_steps(registers(frame_pointer), UNWOUND, reads, {}) == {0x10: step}


def test_a_step_that_is_known_is_not_missing():
    reads = [(8, BOTTOM + 40), (16, 0x20), *CALLER]

    assert missing_steps(registers(0x123), UNWOUND, reads, {0x10: Step(16, 8)}) == {}


def test_where_the_frame_pointer_is_saved_may_be_seen_later_and_is_kept():
    seen = [(8, BOTTOM + 40), (16, 0x20), *CALLER]
    unseen = [(8, 7), (16, 0x20), *CALLER]

    assert missing_steps(registers(0x123), UNWOUND, seen, {0x10: Step(16, -1)}) == {0x10: Step(16, 8)}
    assert 0x10 not in missing_steps(registers(0x123), UNWOUND, unseen, {0x10: Step(16, 8)})


def test_a_step_of_code_that_was_replaced_is_learned_anew():
    reads = [(8, BOTTOM + 40), (16, 0x20), *CALLER]

    assert missing_steps(registers(0x123), UNWOUND, reads, {0x10: Step(24, -1)}) == {0x10: Step(16, 8)}


def test_where_frame_pointers_lead_no_step_is_needed():
    reads = [(8, BOTTOM + 40), (16, 0x20), *CALLER]

    assert missing_steps(registers(BOTTOM + 8), UNWOUND, reads, {}) == {}


def test_the_frame_pointer_may_be_saved_by_a_caller_of_the_instruction():
    unwound = Unwound((0x10, 0x1F, 0x2F, 0x3F), is_complete=True)
    reads = [(16, 0x20), (24, BOTTOM + 72), (32, 0x30), (72, 0), (80, 0x40)]

    assert missing_steps(registers(0x123), unwound, reads, {}) == {0x10: Step(16, -1), 0x20: Step(8, 0)}


def test_an_unwinding_that_found_no_caller_tells_nothing():
    assert missing_steps(registers(0x123), Unwound((0x10,), is_complete=False), [(0, 5)], {}) == {}
