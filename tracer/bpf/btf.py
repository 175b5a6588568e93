"""BTF, the running kernel's type information, to byte offsets of structure members.

https://docs.kernel.org/bpf/btf.html: a header, then types of 12 bytes plus what their kind adds, then their names.
Headers of another kernel version would give wrong offsets, so none are used.
"""

from __future__ import annotations

import struct
from pathlib import Path

from tracer.bpf.errors import BpfError

VMLINUX = Path("/sys/kernel/btf/vmlinux")
_MAGIC = 0xEB9F
_STRUCT, _UNION = 4, 5
# Bytes that follow a type, by kind: as many as it has members, or a fixed number.
_BYTES_PER_MEMBER = {_STRUCT: 12, _UNION: 12, 6: 8, 13: 8, 15: 12, 19: 12}
_FIXED_BYTES = {1: 4, 3: 12, 14: 4, 17: 4}


class Btf:
    """Structures by name; only those are kept."""

    def __init__(self, raw: bytes) -> None:
        magic, _, _, header, types, types_bytes, names, _ = struct.unpack_from("=HBBIIIII", raw)
        if magic != _MAGIC:
            raise BpfError(f"BTF begins with {magic:#x}, expected {_MAGIC:#x}")
        self._raw = raw
        self._names = header + names
        self._place_by_type: dict[int, tuple[int, int, bool]] = {}  # type id: members' place, number, with bit fields
        self._type_by_name: dict[str, int] = {}
        self._scan(header + types, header + types + types_bytes)

    @classmethod
    def of_kernel(cls, path: Path = VMLINUX) -> Btf:
        try:
            return cls(path.read_bytes())
        except OSError as error:
            raise BpfError(f"this kernel gives no type information: {path}: {error.strerror}") from error

    def offset(self, structure: str, member: str) -> int:
        """Offset in bytes; members of unnamed unions and structures inside count as the outer one's."""
        if structure not in self._type_by_name:
            raise BpfError(f"the kernel has no struct {structure}")
        bits = self._bits(self._type_by_name[structure], member)
        if bits is None:
            raise BpfError(f"struct {structure} has no member {member}")
        return bits // 8

    def _scan(self, place: int, end: int) -> None:
        type_id = 0
        while place < end:
            type_id += 1
            name, information, _ = struct.unpack_from("=III", self._raw, place)
            kind, count, has_bits = information >> 24 & 31, information & 0xFFFF, bool(information >> 31)
            place += 12
            if kind in (_STRUCT, _UNION):
                self._place_by_type[type_id] = (place, count, has_bits)
                self._type_by_name.setdefault(self._name(name), type_id)
            place += _BYTES_PER_MEMBER.get(kind, 0) * count + _FIXED_BYTES.get(kind, 0)

    def _bits(self, type_id: int, member: str) -> int | None:
        if type_id not in self._place_by_type:
            return None
        place, count, has_bits = self._place_by_type[type_id]
        for index in range(count):
            name, inner, offset = struct.unpack_from("=III", self._raw, place + 12 * index)
            bits = int(offset & 0xFFFFFF if has_bits else offset)
            if name and self._name(name) == member:
                return bits
            nested = None if name else self._bits(inner, member)
            if nested is not None:
                return bits + nested
        return None

    def _name(self, offset: int) -> str:
        start = self._names + offset
        return self._raw[start : self._raw.index(b"\0", start)].decode()
