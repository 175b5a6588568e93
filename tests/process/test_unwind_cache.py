"""The cache of unwindings on this process's own code, with stacks made by hand."""

from __future__ import annotations

import ctypes
import os
import struct

import pytest

from tracer.process.address_space import AddressSpace
from tracer.process.target import Target
from tracer.process.unwind_cache import UnwindCache
from tracer.process.unwinder import INSTRUCTION_POINTER, STACK_POINTER, Unwinder

BOTTOM = 0x7000_0000
GETPID = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value  # no frame at its first instruction


@pytest.fixture(scope="module")
def unwinder():
    target = Target(os.getpid())
    space = AddressSpace(target)
    made = Unwinder(target.pid, space)
    yield made
    made.close()
    space.close()
    target.close()


def stack_of(*words: int) -> bytes:
    return struct.pack(f"={len(words)}Q", *words).ljust(256, b"\0")


@pytest.fixture
def registers() -> list[int]:
    values = [0] * 17
    values[STACK_POINTER], values[INSTRUCTION_POINTER] = BOTTOM, GETPID
    return values


def test_answers_are_those_of_the_unwinder(unwinder, registers):
    cache = UnwindCache(unwinder)
    for caller in (0, GETPID + 1, 0, GETPID + 2, GETPID + 1):
        stack = stack_of(caller)
        assert cache.unwind(registers, stack) == unwinder.unwind(registers, stack)
