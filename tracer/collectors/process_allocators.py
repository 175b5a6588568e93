"""The processes of a recording to the allocator functions of each, and why one of them can't be followed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tracer.bpf.syscalls import EVERY_PROCESS
from tracer.collectors.allocators import Site, SiteFinder
from tracer.collectors.allocators_found import AllocatorsFound
from tracer.collectors.late_libraries import Followed
from tracer.collectors.malloc_probes import AllocatorProbes
from tracer.collectors.processes import Processes
from tracer.collectors.unwind_choice import UnwindChoice, chosen_unwind
from tracer.options.allocators import AllocatorOptions
from tracer.process.address_space import AddressSpace
from tracer.protocol import RunSpec


class ProcessAllocators:
    def __init__(self, spec: RunSpec, processes: Processes) -> None:
        """CollectorError: a function that was asked for is nowhere, or a process can't be followed."""
        self._processes = processes
        wanted = AllocatorOptions.of(spec.options)
        self._finders = [SiteFinder(space, wanted) for _, space in processes.probed]
        self._sites = [finder.new_sites() for finder in self._finders]
        self._finders[0].refuse_missing()
        self.leaves = self._finders[0].leaves
        self.sites = [site for own in self._sites for site in own]
        self._found = [
            AllocatorsFound(process, space, self.sites)
            for process, (_, space) in zip(processes.known, processes.probed, strict=True)
        ]
        for found in self._found:
            found.refuse_unfollowable(has_defaults=wanted.has_defaults)
        self.unwind = _unwind_of_all(spec, [space for _, space in processes.probed])

    def by_pid(self) -> dict[int, list[Site]]:
        """What to probe for each process; or for EVERY_PROCESS, each file once."""
        pids = [pid for pid, _ in self._processes.probed]
        if not self._processes.follows_children:
            return dict(zip(pids, self._sites, strict=True))
        places = {(*_file_at(site.path), site.start): site for site in reversed(self.sites)}
        return {EVERY_PROCESS: list(reversed(places.values()))}

    def followed(self, probes: Sequence[AllocatorProbes]) -> list[Followed]:
        """For libraries that come late: `probes` are those of `by_pid`."""
        of_each = [*probes, *[probes[0]] * (len(self._finders) - len(probes))]
        processes = [
            (process.pid, space)
            for process, (_, space) in zip(self._processes.known, self._processes.probed, strict=True)
        ]
        return [
            Followed(pid, space, finder, own, self.sites)
            for (pid, space), finder, own in zip(processes, self._finders, of_each, strict=True)
        ]

    def facts(self) -> dict[str, object]:
        return {**self._found[0].facts(), **self.unwind.facts()}

    def notes(self, events: int) -> Iterator[str]:
        if self._processes.follows_children:
            cost = "a malloc and its free cost them about 3 µs"
            yield f"Other processes with these files pass the probes as well: {cost}."
        yield from dict.fromkeys(note for found in self._found for note in found.notes(events))


def _file_at(path: str) -> tuple[int, int]:
    status = Path(path).stat()
    return status.st_dev, status.st_ino


def _unwind_of_all(spec: RunSpec, spaces: list[AddressSpace]) -> UnwindChoice:
    """That of the first that needs unwind tables: they are right for all others too."""
    by_files = {frozenset(mapping.file_id for mapping in space.mappings()): space for space in reversed(spaces)}
    choices = [chosen_unwind(spec, space) for space in reversed(by_files.values())]
    return next((choice for choice in choices if choice.is_dwarf), choices[0])
