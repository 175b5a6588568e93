"""Libraries that are loaded while recording to probes in their allocator functions, and to notes of what was missed."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tracer.bpf.errors import BpfError
from tracer.bpf.program import Program
from tracer.bpf.syscalls import EVERY_PROCESS
from tracer.collectors.allocators import Site, SiteFinder
from tracer.collectors.errors import CollectorError
from tracer.collectors.malloc_probes import AllocatorProbes
from tracer.collectors.processes import Processes
from tracer.process.address_space import AddressSpace
from tracer.process.target import PROC

# The dynamic linker calls it when a library was mapped, before that one's first code runs: debuggers stop there.
_LINKERS_HOOK = "_dl_debug_state"
_LINKERS = ("ld-linux", "ld-2.", "ld-musl", "ld.so")


@dataclass(slots=True)
class Followed:
    """One process whose libraries are watched; `found` gets the sites of what comes."""

    pid: int
    space: AddressSpace
    finder: SiteFinder
    probes: AllocatorProbes
    found: list[Site]
    seen_version: int = field(init=False)
    executable: tuple[int, int] | None = field(init=False)

    def __post_init__(self) -> None:
        self.seen_version, self.executable = self.space.version, self.executable_now()

    def executable_now(self) -> tuple[int, int] | None:
        try:
            status = (PROC / str(self.pid) / "exe").stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino


class LateLibraries:
    """Of the processes that were chosen; children have the probes of what their parents had mapped by then."""

    def __init__(
        self,
        program: Program,
        processes: Processes,
        followed: Sequence[Followed],
        probed: Callable[[list[Site]], list[Site]],
    ) -> None:
        """`probed` chooses those that get a probe."""
        self._program, self._processes, self._followed, self._probed = program, processes, followed, probed
        self.is_watching = False
        self._loads: list[bytes] = []
        self._is_stopped = False
        self._probed_places: set[tuple[str, int]] = set()  # for every process: two may load one library
        self.notes: list[str] = []

    def watch(self) -> None:
        """Hear from the processes when they load a library, instead of looking at their mappings now and then only."""
        points: dict[tuple[int, str, int], None] = {}
        for one in self._followed:
            if place := one.finder.place_of(_LINKERS_HOOK, _LINKERS):  # none if linked statically
                points[EVERY_PROCESS if self._processes.follows_children else one.pid, *place] = None
        with suppress(OSError):
            for pid, path, offset in points:
                self._program.attach_uprobes("on_load", path, [(offset, 0)], pid=pid, kind="single-step")
                self.is_watching = True
        if self.is_watching:
            self._program.open_ring("loads", self._loads.append)

    def follow(self) -> None:
        """Place probes in what was loaded since; what the target told of that came with the program's records."""
        loads = list(self._loads)
        self._loads.clear()
        if loads:
            self._processes.refresh()
        for one in self._followed:
            if one.space.version != one.seen_version and not self._is_stopped:
                one.seen_version = one.space.version
                self._attach(one, struct.unpack("=Q", loads[0])[0] if loads else 0)

    def stop(self) -> None:
        """Place no probes any more."""
        self._is_stopped = True

    def _attach(self, one: Followed, loaded_ns: int) -> None:
        self._note_exec(one)
        try:
            sites = self._not_probed(one.finder.new_sites(are_late=True))
            # An operator new that comes late is told from the malloc inside of it by its rets only.
            one.probes.attach([site for site in self._probed(sites) if site.rets or not _is_new(site)])
        except (CollectorError, BpfError, OSError) as error:
            self.notes.append(f"A library that was loaded while recording can't be followed: {error}.")
            return
        one.found += sites
        modules = ", ".join(dict.fromkeys(site.module for site in sites))
        if modules:
            missed = (
                f"for {(time.monotonic_ns() - loaded_ns) / 1e6:,.0f} ms" if loaded_ns else "for half a second at most"
            )
            self.notes.append(f"Loaded while recording, so its own calls are missing {missed}: {modules}.")

    def _not_probed(self, sites: list[Site]) -> list[Site]:
        if not self._processes.follows_children:
            return sites
        new = [site for site in sites if (site.path, site.start) not in self._probed_places]
        self._probed_places |= {(site.path, site.start) for site in new}
        return new

    def _note_exec(self, one: Followed) -> None:
        executable = one.executable_now()
        if executable is None or executable == one.executable:
            return
        one.executable = executable
        self.notes.append(
            "The process became another program while it was recorded: what the first one held still counts as "
            "outstanding, and of the other the callers of strdup and operator new may be missing."
        )


def _is_new(site: Site) -> bool:
    return site.allocator is not None and site.allocator.is_new
