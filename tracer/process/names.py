"""Addresses of a process to the names of its frames: by its files, by its map of JIT-compiled code, or by offset."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tracer.process import vdso
from tracer.process.address_space import AddressSpace
from tracer.process.jit_map import is_read_in_part
from tracer.process.maps import Mapping
from tracer.symbols.build_id import build_id_of
from tracer.symbols.frames import shown
from tracer.symbols.jit import MAX_BYTES
from tracer.symbols.lines import Location
from tracer.symbols.symbolizer import Binary, Session, Symbolizer

NO_MODULE = "[unknown]"
NO_FILE = "[anon]"
_SHOWN_DIGITS = 8  # of a build id, to tell two files of one name apart


@dataclass(frozen=True, slots=True)
class Name:
    """A frame's text. Without a symbol it is `module` and the offset in its file, by which it may be named later."""

    text: str
    is_resolved: bool
    module: str = ""


class FrameNames:
    """Of one process; `resolve` names many addresses at once, for each time costs the start of a process."""

    def __init__(self, space: AddressSpace, symbolizer: Symbolizer, *, with_lines: bool = False) -> None:
        self._space, self._symbolizer, self._with_lines = space, symbolizer, with_lines
        self._names_by_address: dict[int, tuple[Name, ...]] = {}
        self._unnamed: set[int] = set()  # by files: a map of JIT code may name them, and others later
        self._version = space.version
        self._label_by_file: dict[tuple[int, int, int], str] = {}
        self._vdso: int | None = None
        self._cut_map = ""

    def resolve(self, addresses: Iterable[int]) -> None:
        """By what is mapped now. A return address is to be looked up less 1."""
        jit_map = self._space.open_jit_map()
        try:
            self._forget_what_changed(has_jit_map=jit_map is not None)
            wanted = sorted(set(addresses) - self._names_by_address.keys())
            if wanted:
                self._name(wanted, jit_map)
        finally:
            if jit_map is not None:
                os.close(jit_map)

    def frames(self, address: int) -> tuple[Name, ...]:
        """The function that holds an instruction, and those that are inlined there, outermost first."""
        if address not in self._names_by_address:
            self.resolve([address])
        return self._names_by_address[address]

    def build_ids(self, modules: Iterable[str]) -> dict[str, str]:
        """Of those that unresolved names have for a module."""
        id_by_label = {self._label(mapping): self._build_id(mapping) for mapping in self._space.mappings()}
        return {module: found for module in sorted(set(modules)) if (found := id_by_label.get(module))}

    def notes(self) -> Iterator[str]:
        for path, trouble in sorted(self._symbolizer.troubles.items()):
            yield f"Not all names of {path} could be read: {trouble}."
        if self._cut_map:
            yield f"Of {self._cut_map} the last {MAX_BYTES >> 20} MB were read: names of older JIT code are missing."

    def close(self) -> None:
        if self._vdso is not None:
            os.close(self._vdso)
            self._vdso = None

    def _forget_what_changed(self, *, has_jit_map: bool) -> None:
        if self._version != self._space.version:
            self._version = self._space.version
            self._names_by_address.clear()
            self._label_by_file.clear()
        for address in self._unnamed if has_jit_map else ():
            self._names_by_address.pop(address, None)
        self._unnamed &= self._names_by_address.keys()

    def _name(self, addresses: list[int], jit_map: int | None) -> None:
        addresses_by_file, files = self._by_file(addresses)
        places: dict[int, list[Location]] = {}
        with self._symbolizer.session(files.values()) as session:
            for fd, inside in addresses_by_file.items():
                offsets = [self._offset(address) for address in inside]
                places.update(zip(inside, shown(files[fd], session.locations(files[fd], offsets)), strict=True))
            texts = session.demangled(place.name for found in places.values() for place in found)
            unnamed = [address for address in addresses if not places.get(address)]
            jit_names = self._jit_names(session, jit_map, unnamed)
        self._unnamed.update(unnamed)
        for address in addresses:
            if found := places.get(address):
                self._names_by_address[address] = tuple(self._named(texts[place.name], place) for place in found)
            elif text := jit_names.get(address):
                self._names_by_address[address] = (Name(text, is_resolved=True),)
            else:
                self._names_by_address[address] = (self._unresolved(address),)

    def _by_file(self, addresses: list[int]) -> tuple[dict[int, list[int]], dict[int, Binary]]:
        addresses_by_file: dict[int, list[int]] = defaultdict(list)
        files: dict[int, Binary] = {}
        for address in addresses:
            mapping = self._space.mapping_at(address)
            fd = self._file(mapping) if mapping is not None else None
            if mapping is not None and fd is not None:
                addresses_by_file[fd].append(address)
                files.setdefault(fd, Binary(fd, mapping.path, self._space.debug_roots()))
        return addresses_by_file, files

    def _jit_names(self, session: Session, jit_map: int | None, addresses: list[int]) -> dict[int, str]:
        if jit_map is None or not addresses:
            return {}
        self._cut_map = self._space.jit_map_path if is_read_in_part(jit_map) else ""
        return session.jit_names(jit_map, addresses)

    def _named(self, text: str, place: Location) -> Name:
        if self._with_lines and place.line:
            text = f"{text} ({place.file}:{place.line})"
        return Name(text, is_resolved=True)

    def _unresolved(self, address: int) -> Name:
        mapping = self._space.mapping_at(address)
        if mapping is None:
            return Name(NO_MODULE, is_resolved=False, module=NO_MODULE)
        label = self._label(mapping)
        return Name(f"{label}+{self._offset(address):#x}", is_resolved=False, module=label)

    def _offset(self, address: int) -> int:
        mapping = self._space.mapping_at(address)
        return address - mapping.start + mapping.offset if mapping is not None else address

    def _label(self, mapping: Mapping) -> str:
        if not mapping.inode:
            return mapping.module or NO_FILE
        if mapping.file_id not in self._label_by_file:
            self._label_by_file[mapping.file_id] = self._told_apart(mapping)
        return self._label_by_file[mapping.file_id]

    def _told_apart(self, mapping: Mapping) -> str:
        """The file's name; where other files have the same, with what tells them apart."""
        same = {self._identity(other) for other in self._space.mappings() if other.module == mapping.module}
        return mapping.module if len(same) == 1 else f"{mapping.module}@{self._identity(mapping)}"

    def _identity(self, mapping: Mapping) -> str:
        return (self._build_id(mapping) or "")[:_SHOWN_DIGITS] or f"inode {mapping.inode}"

    def _build_id(self, mapping: Mapping) -> str | None:
        fd = self._file(mapping)
        return build_id_of(fd) if fd is not None else None

    def _file(self, mapping: Mapping) -> int | None:
        if mapping.path == vdso.NAME and not mapping.inode:
            self._vdso = self._vdso if self._vdso is not None else vdso.vdso_image()
            return self._vdso
        return self._space.open_file(mapping)
