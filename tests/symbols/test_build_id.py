"""Build ids as the linker writes them, and files that only look like having one."""

from __future__ import annotations

import os
import random

import pytest

from tracer.symbols.build_id import build_id_of


@pytest.mark.parametrize("flags", [[], ["-shared", "-fPIC"], ["-static"]])
def test_it_is_read_of_programs_and_libraries(built, flags):
    assert build_id_of(built("-Wl,--build-id=0x0123456789abcdef", *flags)) == "0123456789abcdef"


def test_a_file_without_one_has_none(built):
    assert build_id_of(built("-Wl,--build-id=none")) is None


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF\x02\x01" + b"\xff" * 200])
def test_what_is_no_elf_file_has_none(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)

    with path.open("rb") as other:
        assert build_id_of(other.fileno()) is None


def test_damaged_headers_are_read_to_no_harm(built, tmp_path):
    whole = bytearray(os.pread(built("-Wl,--build-id"), 1 << 20, 0))
    made = random.Random(1)
    path = tmp_path / "damaged"
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(8):
            damaged[made.randrange(4, 1024)] = made.randrange(256)
        path.write_bytes(damaged)

        with path.open("rb") as file:
            found = build_id_of(file.fileno())

        assert found is None or len(found) <= 128


def test_where_program_headers_point_beside_the_note_its_section_tells(built, tmp_path):
    """As in debug files that eu-strip makes; half an id is none."""
    whole = bytearray(os.pread(built("-Wl,--build-id=0x0123456789abcdef"), 1 << 20, 0))
    table, size, count = (int.from_bytes(whole[at : at + width], "little") for at, width in ((32, 8), (54, 2), (56, 2)))
    for header in range(table, table + size * count, size):
        if whole[header] == 4:  # PT_NOTE
            whole[header + 32 : header + 40] = (20).to_bytes(8, "little")  # bytes in the file
    path = tmp_path / "beside"
    path.write_bytes(whole)

    with path.open("rb") as file:
        assert build_id_of(file.fileno()) == "0123456789abcdef"
