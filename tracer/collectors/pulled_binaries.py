"""Frames of a pulled profile, places in files as its process sees them, to names by those files on this host."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tracer.process.address_space import AddressSpace
from tracer.process.root import Root
from tracer.profile.model import Profile
from tracer.symbols.build_id import build_id_of
from tracer.symbols.frames import places_in, with_names
from tracer.symbols.symbolizer import Binary, Symbolizer

_DELETED = " (deleted)"
# Inner functions of an allocator's own library, which most systems strip of their names.
_INSIDE_ALLOCATOR = re.compile(r"(lib(?:jemalloc|tcmalloc)[^+/]*)\+0x[0-9a-f]+")


class PulledBinaries:
    """Of the process, if it is known: what it has mapped is what made the profile, even if replaced on disk since."""

    def __init__(self, space: AddressSpace | None) -> None:
        self._space = space
        self._symbolizer = Symbolizer()
        self._root = Root(Path("/") if space is None else space.directory / "root")

    def close(self) -> None:
        self._root.close()

    def named(self, profile: Profile, *, taken_at: float) -> Profile:
        """With paths and build ids of files that are left without names, and notes that say why."""
        paths, told = _texts(profile.capture.get("modules")), _texts(profile.capture.get("build_ids"))
        with self._opened(paths, told, taken_at) as (binaries, notes):
            named = _with_one_allocator_frame(with_names(profile, binaries, self._symbolizer))
            left = places_in(named.names).keys()
            ids = {module: build_id_of(binary.fd) for module, binary in binaries.items() if module in left}
        notes += [f"Not all names of {path} could be read: {why}." for path, why in self._symbolizer.troubles.items()]
        found: dict[str, object] = {
            "modules": {module: path for module, path in paths.items() if module in left},
            "build_ids": {
                module: build_id for module, build_id in {**told, **ids}.items() if build_id and module in left
            },
            "notes": [*notes_of(named), *notes],
        }
        rest = {key: value for key, value in named.capture.items() if key not in found}
        named.capture = {**rest, **{key: value for key, value in found.items() if value}}
        return named

    @contextmanager
    def _opened(
        self, paths: Mapping[str, str], told: Mapping[str, str], taken_at: float
    ) -> Iterator[tuple[dict[str, Binary], list[str]]]:
        """By module, those that are the files that the profile was made with; and why others are not."""
        binaries: dict[str, Binary] = {}
        notes: list[str] = []
        with ExitStack() as resources:
            for module, path in paths.items():
                binary = self._mapped(path) or self._on_disk(path, resources)
                if binary is None:
                    continue
                if why := _why_another(binary, told.get(module), taken_at):
                    notes.append(f"{path} {why}: its functions are not named by it.")
                else:
                    binaries[module] = binary
            yield binaries, notes

    def _on_disk(self, path: str, resources: ExitStack) -> Binary | None:
        """Where nobody knows the process, or it has the file not mapped any more."""
        fd = self._root.open(path)
        if fd is None:
            return None
        resources.callback(os.close, fd)
        return Binary(fd, path, [self._root.open])

    def _mapped(self, path: str) -> Binary | None:
        if self._space is None:
            return None
        self._space.refresh()
        wanted = path.removesuffix(_DELETED)
        for mapping in self._space.mappings():
            if mapping.path == wanted and (fd := self._space.open_file(mapping)) is not None:
                return Binary(fd, mapping.path, self._space.debug_roots())
        return None


def notes_of(profile: Profile) -> list[str]:
    notes = profile.capture.get("notes")
    return [str(note) for note in notes] if isinstance(notes, list) else []


def _texts(claimed: object) -> dict[str, str]:
    """Of a capture, which may claim anything."""
    return {str(name): str(text) for name, text in claimed.items()} if isinstance(claimed, Mapping) else {}


def _why_another(binary: Binary, told: str | None, taken_at: float) -> str:
    """By the build id where the profile tells one; a file that was replaced since tells by its time."""
    if told is not None:
        return "" if build_id_of(binary.fd) == told else "is of another build than the profile"
    return "is newer than the profile" if os.fstat(binary.fd).st_mtime > taken_at else ""


def _with_one_allocator_frame(profile: Profile) -> Profile:
    """The nameless leaves of each stack that are the allocator at work, as one frame: they tell nobody anything."""
    module_by_id = {
        number: found[1] for number, name in enumerate(profile.names) if (found := _INSIDE_ALLOCATOR.fullmatch(name))
    }
    if not module_by_id:
        return profile
    short = Profile(profile.value_types, capture=profile.capture, format=profile.format)
    short.skipped, short.skipped_lines = profile.skipped, profile.skipped_lines
    for key, row in profile.row_by_key.items():
        stack = list(array("i", key))
        inside = ""
        while stack and stack[-1] in module_by_id:
            inside = module_by_id[stack.pop()]
        names = [profile.names[number] for number in stack] + ([f"[inside {inside}]"] if inside else [])
        short.add(names, [column[row] for column in profile.columns])
    return short
