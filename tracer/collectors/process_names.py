"""Frames of all processes of a recording: one table of names for each address space."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from tracer.collectors.processes import Processes
from tracer.collectors.stacks import CapturedStack
from tracer.process.address_space import AddressSpace
from tracer.process.names import FrameNames, Name
from tracer.symbols.symbolizer import Symbolizer


class ProcessNames:
    def __init__(self, processes: Processes, *, with_lines: bool, meanwhile: Callable[[], None]) -> None:
        self._processes, self._with_lines = processes, with_lines
        self._symbolizer = Symbolizer(meanwhile=meanwhile)
        self._names_by_space: dict[int, FrameNames] = {}  # by id: the names keep their space alive
        self._names_by_image: dict[int, FrameNames] = {}  # of the last `resolve`

    def resolve(self, stacks: Iterable[CapturedStack]) -> None:
        """Name all their addresses, those of an address space at once."""
        # Meanwhile events are read, and with them a child's own mappings: what was named must stay what is shown.
        self._names_by_image.clear()
        wanted: defaultdict[int, set[int]] = defaultdict(set)
        for stack in stacks:
            if stack.addresses:
                wanted[id(self._of(stack.image))].update(stack.addresses)
        for names in set(self._names_by_image.values()):
            names.resolve(wanted[id(names)])

    def frames(self, stack: CapturedStack) -> list[Name]:
        """Root first."""
        names = self._of(stack.image)
        return [name for address in reversed(stack.addresses) for name in names.frames(address)]

    def root(self, stack: CapturedStack) -> tuple[str, ...]:
        """The frame for its process, if one was asked for."""
        return self._processes.root(stack.image)

    def build_ids(self, modules: Iterable[str]) -> dict[str, str]:
        """Of those that unresolved names have for a module."""
        wanted = set(modules)
        found: dict[str, str] = {}
        for names in self._names_by_space.values():
            found |= names.build_ids(wanted)
        return found

    def notes(self) -> Iterator[str]:
        yield from dict.fromkeys(note for names in self._names_by_space.values() for note in names.notes())

    def close(self) -> None:
        for names in self._names_by_space.values():
            names.close()

    def _of(self, image: int) -> FrameNames:
        if image not in self._names_by_image:
            self._names_by_image[image] = self._of_space(self._processes.space(image))
        return self._names_by_image[image]

    def _of_space(self, space: AddressSpace) -> FrameNames:
        if id(space) not in self._names_by_space:
            self._names_by_space[id(space)] = FrameNames(space, self._symbolizer, with_lines=self._with_lines)
        return self._names_by_space[id(space)]
