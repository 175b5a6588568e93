"""Which allocators a process has, and why one of them can't be followed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tracer.collectors.allocators import Site
from tracer.collectors.errors import CollectorError
from tracer.process.address_space import AddressSpace
from tracer.process.maps import Mapping
from tracer.process.selection import Found
from tracer.process.target import Target
from tracer.profile.gaps import C_LIBRARY
from tracer.symbols.elf import ElfError, ElfFile

_GO_SECTIONS = (".go.buildinfo", ".gopclntab")
_GO_REASON = (
    "is a Go program: a return probe would break the stacks that Go's runtime moves, and Go's memory does not come "
    "from malloc; fetch /debug/pprof/heap from it and upload that"
)


class AllocatorsFound:
    """Sites are added as libraries come; which allocator the program uses was settled when it was linked."""

    def __init__(self, target: Found | Target, space: AddressSpace, found: list[Site]) -> None:
        self._target, self._space, self._found = target, space, found
        self._unreachable = [*without_probe_path(space)]
        modules = self._modules()
        others = [module for module in modules if not module.startswith(C_LIBRARY)]
        # The program's own, else a preloaded one, else the C library's.
        self._used = next(iter([*others, *modules]), "")

    def refuse_unfollowable(self, *, has_defaults: bool) -> None:
        """CollectorError says why recording this process would be wrong, harmful or empty."""
        process = f"process {self._target.pid} ({self._target.command})"
        if reason := self._reason_of_program():
            raise CollectorError(f"{process} {reason}")
        gone = [mapping.path for mapping in self._unreachable if self._is_used_malloc(mapping)]
        if gone and has_defaults:
            raise CollectorError(
                f"the allocator of {process}, {gone[0]}, was deleted or replaced since it was mapped, so no probe "
                "reaches it: start the process again to record it"
            )
        if not any(site.allocator for site in self._found):
            raise CollectorError(
                f"no allocator function was found in {process}: its program may be linked statically and stripped of "
                "symbols; if you know where they are, say so by addr (--addr malloc=0x4012f0 --addr free=0x401530)"
            )

    def facts(self) -> dict[str, object]:
        """Keys of the capture: the module whose malloc the program calls, and all that have one."""
        return {"allocator": self._used, "allocators": self._modules()}

    def notes(self, events: int) -> Iterator[str]:
        if self._unreachable:
            paths = ", ".join(mapping.path for mapping in self._unreachable)
            yield f"Deleted or replaced since they were mapped, so not probed: {paths}."
        if not events:
            yield f"0 events from {self._used}: it is in the process, but none of its calls counted."

    def _modules(self) -> list[str]:
        mallocs = [site for site in self._found if site.allocator and site.allocator.is_malloc]
        return [*dict.fromkeys(site.module for site in mallocs)]

    def _is_used_malloc(self, mapping: Mapping) -> bool:
        """A C library that was replaced does no harm where another allocator stands before it."""
        is_second = mapping.module.startswith(C_LIBRARY) and self._used and not self._used.startswith(C_LIBRARY)
        return not is_second and _has_malloc(self._space.open_file(mapping))

    def _reason_of_program(self) -> str:
        program = next((one for one in self._space.mappings() if self._space.is_program(one)), None)
        fd = self._space.open_file(program) if program else None
        if fd is None:
            return ""
        return reason_of_program(os.pread(fd, 5, 0)) or (_GO_REASON if _is_go(fd) else "")


def reason_of_program(head: bytes) -> str:
    """Why a file that begins like this can't be followed; empty if it can."""
    return "is a 32-bit program: only 64-bit ones can be recorded" if head == b"\x7fELF\x01" else ""


def _is_go(fd: int) -> bool:
    try:
        with ElfFile(fd) as elf:
            return elf.has_section(*_GO_SECTIONS)
    except ElfError:
        return False


def _has_malloc(fd: int | None) -> bool:
    try:
        if fd is not None:
            with ElfFile(fd) as elf:
                return "malloc" in elf.exported_functions()
    except ElfError:
        pass
    return False


def without_probe_path(space: AddressSpace) -> Iterator[Mapping]:
    """Mapped files that no probe can reach: deleted or replaced since they were mapped."""
    files = {mapping.file_id: mapping for mapping in space.mappings() if mapping.inode}
    for mapping in sorted(files.values(), key=lambda mapping: mapping.path):
        if space.probe_path(mapping) is None:
            yield mapping
