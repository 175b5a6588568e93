"""The code a process has mapped: kept, with its files open, so that addresses resolve after unload and exit too."""

from __future__ import annotations

import bisect
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from tracer.process.jit_map import JitMap
from tracer.process.maps import Mapping, executable_mappings, parse_maps
from tracer.process.root import Root
from tracer.process.target import Process
from tracer.symbols.build_id import build_id_of
from tracer.symbols.debug_files import Open


@dataclass(frozen=True, slots=True)
class Module:
    """A mapped file as a whole, data included; `fd` stays the address space's."""

    path: str
    start: int
    end: int
    fd: int


class AddressSpace:
    """Executable mappings of one process; `refresh` adds what was mapped since."""

    def __init__(self, target: Process) -> None:
        self._target = target
        self._resources = ExitStack()
        self._roots = self._opened_roots(target)
        self._jit_map = JitMap.of(target)
        self._maps_text = ""
        self.version = 0  # grows with each change of executable mappings
        self._mappings: list[Mapping] = []  # by start, without overlap
        self._starts: list[int] = []
        self._fd_by_file: dict[tuple[int, int, int], int] = {}
        self.refresh()

    def of_another(self, process: Process, *, is_forked: bool) -> AddressSpace:
        """Another process's, not read yet: a forked child begins with these mappings, all others with none.

        Open files are shared, so that many processes of one program open it once; the first of them to be closed closes
        the files of all.
        """
        other = copy(self)
        other._target = process
        if not self._has_root_of(process):
            other._roots = self._opened_roots(process)
        with suppress(OSError):  # else it has ended, and nobody reads its map
            other._jit_map = JitMap.of(process)
        other._maps_text = self._maps_text if is_forked else ""
        other._mappings = list(self._mappings) if is_forked else []
        other._starts = list(self._starts) if is_forked else []
        return other

    @property
    def directory(self) -> Path:
        """Of its process, in /proc."""
        return self._target.directory

    def refresh(self) -> bool:
        """Read the maps again; True if executable ones changed. After the exit the last state stays."""
        try:
            text = (self._target.directory / "maps").read_text(errors="surrogateescape")
        except OSError:
            return False
        if not text or text == self._maps_text:
            return False
        self._maps_text = text
        now = executable_mappings(text)
        if not set(now) - set(self._mappings):
            return False
        self._merge(now)
        self._open_files(now)
        self.version += 1
        return True

    def mappings(self) -> Iterator[Mapping]:
        return iter(self._mappings)

    def modules(self) -> list[Module]:
        """Files that are mapped now and have code, each from its first mapping to its last."""
        spans: dict[tuple[int, int, int], list[int]] = {}
        for mapping in parse_maps(self._maps_text):
            if mapping.file_id in self._fd_by_file:
                spans.setdefault(mapping.file_id, []).extend((mapping.start, mapping.end))
        path_by_file = {mapping.file_id: mapping.path for mapping in self._mappings}
        return [
            Module(path_by_file[file], min(span), max(span), self._fd_by_file[file]) for file, span in spans.items()
        ]

    def open_file(self, mapping: Mapping) -> int | None:
        """Descriptor of the mapped file, ours to keep; None for what is no file or can't be read."""
        return self._fd_by_file.get(mapping.file_id)

    def is_program(self, mapping: Mapping) -> bool:
        """Whether the file is the one that the process runs."""
        fd = self.open_file(mapping)
        try:
            return fd is not None and os.path.samestat((self._target.directory / "exe").stat(), os.fstat(fd))
        except OSError:
            return False

    def address_of(self, file_id: tuple[int, int, int], offset: int) -> int | None:
        """Where the process has the code at a file offset."""
        for mapping in self._mappings:
            place = mapping.start + offset - mapping.offset
            if mapping.file_id == file_id and mapping.start <= place < mapping.end:
                return place
        return None

    def has_code_at(self, address: int) -> bool:
        return self.mapping_at(address) is not None

    def probe_path(self, mapping: Mapping) -> str | None:
        """A path by which the kernel finds this very file; None if it was deleted or replaced.

        The table of mappings names a file from the process's own root in a container, from ours in a chroot.
        """
        fd = self.open_file(mapping)
        if fd is None or mapping.is_deleted:
            return None
        paths = (f"{self._target.directory}/root{mapping.path}", mapping.path)
        return next((path for path in paths if _is_file(Path(path), fd)), None)

    def mapping_at(self, address: int) -> Mapping | None:
        position = bisect.bisect_right(self._starts, address) - 1
        if position < 0 or address >= self._mappings[position].end:
            return None
        return self._mappings[position]

    def debug_roots(self) -> Sequence[Open]:
        """Where files of debug information may be: in the target's root directory, then in ours."""
        return [root.open for root in self._roots]

    @property
    def jit_map_path(self) -> str:
        return self._jit_map.path

    def open_jit_map(self) -> int | None:
        """The map of JIT-compiled code as it is now, for the caller to close; None if the process has none."""
        if not self._target.has_exited():  # it may have become another user's
            with suppress(OSError):
                self._jit_map = JitMap.of(self._target)
        return self._jit_map.open(self._roots[0]) if self._roots else None

    def close(self) -> None:
        for fd in self._fd_by_file.values():
            os.close(fd)
        self._fd_by_file.clear()
        self._resources.close()

    def _has_root_of(self, process: Process) -> bool:
        """Or that one has ended: then no file is looked for in its root any more."""
        try:
            return (process.directory / "root").samefile(self._target.directory / "root")
        except OSError:
            return True

    def _opened_roots(self, target: Process) -> list[Root]:
        roots: list[Root] = []
        for directory in (target.directory / "root", Path("/")):
            with suppress(OSError):
                root = Root(directory)
                self._resources.callback(root.close)
                if not any(root.is_same(other) for other in roots):
                    roots.append(root)
        return roots

    def _merge(self, now: list[Mapping]) -> None:
        """What is mapped now, and what was mapped where nothing is now."""
        starts = [mapping.start for mapping in now]

        def is_covered(old: Mapping) -> bool:
            position = bisect.bisect_left(starts, old.end) - 1
            return position >= 0 and now[position].end > old.start

        gone = [old for old in self._mappings if not is_covered(old)]
        self._mappings = sorted([*now, *gone], key=lambda mapping: mapping.start)
        self._starts = [mapping.start for mapping in self._mappings]

    def _open_files(self, mappings: list[Mapping]) -> None:
        for mapping in mappings:
            if mapping.inode and mapping.file_id not in self._fd_by_file:
                fd = self._opened(mapping)
                if fd is not None:
                    self._fd_by_file[mapping.file_id] = fd

    def _opened(self, mapping: Mapping) -> int | None:
        # map_files reaches deleted and replaced files as well; it needs CAP_SYS_ADMIN, which a recording has.
        directory = self._target.directory
        for path in (f"{directory}/map_files/{mapping.start:x}-{mapping.end:x}", f"{directory}/root{mapping.path}"):
            try:
                return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue
        return None


def _is_file(path: Path, fd: int) -> bool:
    """Whether a path leads to an open file, or to the overlay that older kernels show in a container's place of it."""
    try:
        there, mapped = path.stat(), os.fstat(fd)
        if os.path.samestat(there, mapped):
            return True
        if there.st_size != mapped.st_size:
            return False
        with path.open("rb") as other:
            build_id = build_id_of(other.fileno())
            return build_id is not None and build_id == build_id_of(fd)
    except OSError:
        return False
