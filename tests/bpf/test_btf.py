"""Offsets from type information, on a small table written here."""

from __future__ import annotations

import struct

import pytest

from tracer.bpf.btf import Btf
from tracer.bpf.errors import BpfError

NAMES = b"\0task\0pid\0mm\0flags\0"
INT, STRUCT, UNION = 1, 4, 5


def at(name: str) -> int:
    return NAMES.index(f"\0{name}\0".encode()) + 1


def kind(number: int, members: int = 0, *, has_bits: bool = False) -> int:
    return number << 24 | members | has_bits << 31


def btf(*types: bytes) -> bytes:
    content = b"".join(types)
    header = struct.pack("=HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(content), len(content), len(NAMES))
    return header + content + NAMES


TABLE = btf(
    struct.pack("=IIII", 0, kind(INT), 4, 32),  # 1: int
    struct.pack("=III", 0, kind(UNION, 1), 8) + struct.pack("=III", at("mm"), 1, 0),  # 2: an unnamed union
    struct.pack("=III", at("task"), kind(STRUCT, 2), 24)  # 3
    + struct.pack("=III", at("pid"), 1, 64)
    + struct.pack("=III", 0, 2, 128),
)


def test_a_member_has_its_offset_in_bytes():
    assert Btf(TABLE).offset("task", "pid") == 8


def test_a_member_of_an_unnamed_union_counts_as_the_outer_ones():
    assert Btf(TABLE).offset("task", "mm") == 16


def test_in_a_structure_with_bit_fields_the_size_above_the_offset_is_left_out():
    table = btf(
        struct.pack("=IIII", 0, kind(INT), 4, 32),
        struct.pack("=III", at("task"), kind(STRUCT, 1, has_bits=True), 8)
        + struct.pack("=III", at("flags"), 1, 3 << 24 | 32),
    )

    assert Btf(table).offset("task", "flags") == 4


def test_an_unknown_structure_and_an_unknown_member_are_named():
    with pytest.raises(BpfError, match="no struct mm_struct"):
        Btf(TABLE).offset("mm_struct", "brk")
    with pytest.raises(BpfError, match="struct task has no member brk"):
        Btf(TABLE).offset("task", "brk")


def test_other_bytes_are_refused():
    with pytest.raises(BpfError, match="BTF begins with 0x464c"):
        Btf(b"\x4c\x46" + TABLE[2:])
