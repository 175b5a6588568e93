"""Programs that can't be followed, by the first bytes of their file."""

from __future__ import annotations

from tracer.collectors.allocators_found import reason_of_program


def test_a_32_bit_program_is_refused():
    assert reason_of_program(b"\x7fELF\x01") == "is a 32-bit program: only 64-bit ones can be recorded"


def test_a_64_bit_program_is_not():
    assert reason_of_program(b"\x7fELF\x02") == ""
