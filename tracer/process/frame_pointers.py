"""Mapped files to whether their code keeps frame pointers, by the unwind tables of a sample of their functions.

A function that keeps one has a table by which its frame is found from %rbp; one that doesn't is found from %rsp.
https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/ehframechpt.html
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice

from tracer.process.address_space import AddressSpace
from tracer.process.maps import Mapping
from tracer.symbols.elf import ElfError, ElfFile, Section

_SAMPLED_FUNCTIONS = 500  # of a file; 2 to 5 ms
_SAMPLED_FILES = 16  # the largest, and the executable
_SCANNED_BYTES = 4096  # of a function, for a call
_KEEPING_SHARE = 0.9  # compilers leave out a few; where none are kept it is below 0.05

# No file of the program's: they keep none on most systems, and what they call is called at the root or not at all.
_SYSTEM = ("libc.so.", "libc-2.", "ld-", "libm.so.", "libm-2.", "libpthread", "libdl.", "librt.", "libgcc_s.")

# Instructions of a table: the frame is at an offset from register 6, %rbp, or saved where it points to.
_FRAME_POINTER_RULE = re.compile(rb"[\x0c\x0d]\x06|\x0f\x03\x76", re.DOTALL)
# _start has no caller, and stubs of calls into other files are no functions.
_NO_FUNCTION = re.compile(rb"\x07\x10|\x0f\x0b\x77|\A\0*\Z", re.DOTALL)
_CALL = re.compile(rb"\xe8|\xff[\x10-\x17\x50-\x57\x90-\x97\xd0-\xd7]", re.DOTALL)
_RECORD = struct.Struct("=II")


@dataclass(frozen=True, slots=True)
class FrameUse:
    """Of the sampled functions of a file that call others, how many keep a frame pointer."""

    module: str
    sampled: int
    keeping: int

    @property
    def keeps_frame_pointers(self) -> bool:
        return self.keeping >= _KEEPING_SHARE * self.sampled


def modules_without_frame_pointers(space: AddressSpace) -> list[FrameUse]:
    """Main modules through which a walk along frame pointers loses callers, the executable first."""
    return [use for use in frame_uses(space) if not use.keeps_frame_pointers]


def frame_uses(space: AddressSpace) -> Iterator[FrameUse]:
    """Of the executable and the largest libraries but the C library; files that don't tell are left out."""
    for mapping in _main_mappings(space):
        fd = space.open_file(mapping)
        use = _frame_use(mapping.module, fd) if fd is not None else None
        if use is not None:
            yield use


def _main_mappings(space: AddressSpace) -> list[Mapping]:
    """The first of each file; the kernel maps an executable below its libraries."""
    first: dict[tuple[int, int, int], Mapping] = {}
    for mapping in space.mappings():
        if mapping.inode and not mapping.module.startswith(_SYSTEM):
            first.setdefault(mapping.file_id, mapping)
    executable, libraries = [*first.values()][:1], [*first.values()][1:]
    return [*executable, *nlargest(_SAMPLED_FILES - 1, libraries, key=lambda mapping: mapping.end - mapping.start)]


def _frame_use(module: str, fd: int) -> FrameUse | None:
    try:
        with ElfFile(fd) as elf:
            table = elf.section(".eh_frame")
            kept = list(islice(_keeping(elf, table), _SAMPLED_FUNCTIONS)) if table else []
    except (ElfError, struct.error):
        return None
    return FrameUse(module, len(kept), sum(kept)) if kept else None


def _keeping(elf: ElfFile, table: Section) -> Iterator[bool]:
    """For each function that calls another, whether it keeps a frame pointer."""
    for span, rules in _descriptions(table):
        if not _NO_FUNCTION.search(rules) and _CALL.search(elf.code(span.start, min(len(span), _SCANNED_BYTES))):
            yield _FRAME_POINTER_RULE.search(rules) is not None


def _descriptions(table: Section) -> Iterator[tuple[range, bytes]]:
    """Where each function is, and the instructions that tell how to find its frame.

    A description begins with its length, how far back its common part is, and where the function starts, as an offset
    from this place, as linkers on x86_64 write it; then come the number of its bytes and an augmentation with a length.
    """
    place = 0
    while place + _RECORD.size <= len(table.content):
        length, common = _RECORD.unpack_from(table.content, place)
        end = place + 4 + length
        if not 0 < length < len(table.content):
            return
        if common:
            relative, count, augmented = struct.unpack_from("=iIB", table.content, place + 8)
            start = table.address + place + 8 + relative
            yield range(start, start + count), table.content[place + 17 + augmented : end]
        place = end
