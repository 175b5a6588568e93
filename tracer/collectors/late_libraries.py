"""Libraries that are loaded while recording to probes in their allocator functions, and to notes of what was missed."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from contextlib import suppress

from tracer.bpf.errors import BpfError
from tracer.bpf.program import Program
from tracer.collectors.allocators import Site, SiteFinder
from tracer.collectors.errors import CollectorError
from tracer.collectors.malloc_probes import AllocatorProbes
from tracer.process.address_space import AddressSpace
from tracer.process.target import Target

# The dynamic linker calls it when a library was mapped, before that one's first code runs: debuggers stop there.
_LINKERS_HOOK = "_dl_debug_state"
_LINKERS = ("ld-linux", "ld-2.", "ld-musl", "ld.so")


class LateLibraries:
    def __init__(
        self,
        program: Program,
        target: Target,
        space: AddressSpace,
        finder: SiteFinder,
        probes: AllocatorProbes,
        probed: Callable[[list[Site]], list[Site]],
        found: list[Site],
    ) -> None:
        """`probed` chooses those that get a probe; `found` gets the sites of what comes."""
        self._program, self._target, self._space = program, target, space
        self._finder, self._probes, self._probed, self._found = finder, probes, probed, found
        self.is_watching = False
        self._loads: list[bytes] = []
        self._is_stopped = False
        self._seen_version = space.version
        self._executable = self._executable_id()
        self.notes: list[str] = []

    def watch(self) -> None:
        """Hear from the target when it loads a library, instead of looking at its mappings now and then only."""
        place = self._finder.place_of(_LINKERS_HOOK, _LINKERS)
        if place is None:
            return  # linked statically
        path, offset = place
        with suppress(OSError):
            self._program.attach_uprobes("on_load", path, [(offset, 0)], pid=self._target.pid, kind="single-step")
            self._program.open_ring("loads", self._loads.append)
            self.is_watching = True

    def follow(self) -> None:
        """Place probes in what was loaded since; what the target told of that came with the program's records."""
        loads = list(self._loads)
        self._loads.clear()
        if loads:
            self._space.refresh()
        if self._space.version != self._seen_version and not self._is_stopped:
            self._seen_version = self._space.version
            self._attach(struct.unpack("=Q", loads[0])[0] if loads else 0)

    def stop(self) -> None:
        """Place no probes any more."""
        self._is_stopped = True

    def _attach(self, loaded_ns: int) -> None:
        self._note_exec()
        try:
            sites = self._finder.new_sites(are_late=True)
            # An operator new that comes late is told from the malloc inside of it by its rets only.
            self._probes.attach([site for site in self._probed(sites) if site.rets or not _is_new(site)])
        except (CollectorError, BpfError, OSError) as error:
            self.notes.append(f"A library that was loaded while recording can't be followed: {error}.")
            return
        self._found += sites
        modules = ", ".join(dict.fromkeys(site.module for site in sites))
        if modules:
            missed = (
                f"for {(time.monotonic_ns() - loaded_ns) / 1e6:,.0f} ms" if loaded_ns else "for half a second at most"
            )
            self.notes.append(f"Loaded while recording, so its own calls are missing {missed}: {modules}.")

    def _note_exec(self) -> None:
        executable = self._executable_id()
        if executable is None or executable == self._executable:
            return
        self._executable = executable
        self.notes.append(
            "The process became another program while it was recorded: what the first one held still counts as "
            "outstanding, and of the other the callers of strdup and operator new may be missing."
        )

    def _executable_id(self) -> tuple[int, int] | None:
        try:
            status = (self._target.directory / "exe").stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino


def _is_new(site: Site) -> bool:
    return site.allocator is not None and site.allocator.is_new
