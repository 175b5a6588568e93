"""Unwinding of stacks made by hand, in this very process."""

from __future__ import annotations

import ctypes
import os

import pytest

from tracer.process.address_space import AddressSpace
from tracer.process.memory import read_memory
from tracer.process.target import Target
from tracer.process.unwinder import INSTRUCTION_POINTER, STACK_POINTER, Unwinder


@pytest.fixture
def target():
    target = Target(os.getpid())
    yield target
    target.close()


@pytest.fixture
def unwinder(target):
    space = AddressSpace(target)
    unwinder = Unwinder(target.pid, space)
    yield unwinder
    unwinder.close()
    space.close()


def test_a_stack_that_ends_before_the_return_address_is_short_and_not_complete(unwinder):
    registers = [0] * 17
    registers[INSTRUCTION_POINTER] = ctypes.cast(ctypes.CDLL(None).malloc, ctypes.c_void_p).value
    registers[STACK_POINTER] = 0x7000

    unwound = unwinder.unwind(registers, b"")

    assert unwound.addresses == (registers[INSTRUCTION_POINTER],)
    assert (unwound.is_complete, unwound.is_short) == (False, True)


def test_memory_is_read_up_to_where_nothing_is_mapped():
    text = ctypes.create_string_buffer(b"as it is now")

    assert read_memory(os.getpid(), ctypes.addressof(text), 12) == b"as it is now"
    assert read_memory(os.getpid(), 0, 8) == b""
