"""All processes of the host to how many system calls for memory and page faults each makes, in some seconds.

Allocator calls are counted on demand only: they need a probe in each library that has an allocator, and every program
of the host then takes a trap for each call.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from tracer.bpf.errors import BpfError
from tracer.bpf.maps import summed
from tracer.bpf.program import HERE, KernelIds, Program, has_multi_links
from tracer.collectors.allocators import Site, SiteFinder
from tracer.collectors.counting import LOOK_EVERY_S
from tracer.collectors.counting_probes import attach
from tracer.collectors.errors import CollectorError
from tracer.options.allocators import AllocatorOptions
from tracer.process.address_space import AddressSpace
from tracer.process.target import PROC, Target, TargetError

MAX_PROCESSES = 8192  # 56 bytes a processor each
OTHERS = 0  # what the processes did for which there was no room
_SOURCES = (HERE / "tracepoints.h", Path(__file__).with_suffix(".c"))
_MINOR, _MAJOR = 5, 6  # PERF_COUNT_SW_PAGE_FAULTS_MIN, …_MAJ
_FIELDS = 7  # of struct events


@dataclass(frozen=True, slots=True)
class ProcessEvents:
    """What one process did within some seconds, in the order of tracer.collectors.rates.COLUMNS."""

    pid: int
    command: str
    events: tuple[int, ...]


class HostCounting:
    """Counts from when it is entered until it is left. Nothing stays attached."""

    def __init__(self, *, counts_allocators: bool = False) -> None:
        self.counts_allocators = counts_allocators
        self._resources = ExitStack()
        self._before: dict[int, tuple[int, ...]] = {}
        self._taken_at = 0.0

    def __enter__(self) -> HostCounting:
        try:
            self._begin()
        except BaseException as error:
            self._resources.close()
            if isinstance(error, BpfError | OSError):
                raise CollectorError(str(error)) from error
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def wait(self, seconds: float, should_stop: Callable[[], bool] = lambda: False) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not should_stop():
            time.sleep(min(left, LOOK_EVERY_S))

    def take(self) -> tuple[float, list[ProcessEvents]]:
        """Seconds and events since the last time, of processes that did anything; what has exited is forgotten."""
        now = time.monotonic()
        seconds, self._taken_at = now - self._taken_at, now
        sums = {_number(key): summed(value) for key, value in self._program.map("processes").entries()}
        events = [
            ProcessEvents(pid, self._command(pid), new)
            for pid, total in sums.items()
            if any(new := _difference(total, self._before.get(pid, (0,) * _FIELDS)))
        ]
        self._before = sums
        self._forget_exited()
        return seconds, events

    def kernel_ids(self) -> KernelIds:
        """What the kernel holds for this counting; nothing is left of it afterwards."""
        return self._program.kernel_ids()

    def _begin(self) -> None:
        if self.counts_allocators and not has_multi_links():
            raise CollectorError("allocator calls of all processes can be counted on Linux 6.6 and newer only")
        self._program = Program(_SOURCES, defines={"OWN_TGID": os.getpid(), "MAX_PROCESSES": MAX_PROCESSES})
        self._resources.callback(self._program.close)
        processes = self._program.map("processes")
        processes.update(_key(OTHERS), bytes(processes.value_bytes))
        self._program.attach_software_event("on_minor_fault", _MINOR)
        self._program.attach_software_event("on_major_fault", _MAJOR)
        if self.counts_allocators:
            self._attach_allocators()
        self.take()

    def _attach_allocators(self) -> None:
        seen: set[tuple[int, int, int]] = set()
        for found in _allocator_sites():
            # A file has another path in each container; the process by which it was found may be gone by now.
            with suppress(OSError):
                place_by_site = {site: _place(site) for site in found}
                attach(self._program, [site for site, place in place_by_site.items() if place not in seen], pid=0)
                seen.update(place_by_site.values())

    def _command(self, pid: int) -> str:
        if pid == OTHERS:
            return "[other processes]"
        with suppress(OSError):
            return (PROC / str(pid) / "comm").read_text(errors="replace").strip()
        name = self._program.map("commands").lookup(_key(pid))
        return name.split(b"\0")[0].decode(errors="replace") if name else "[exited]"

    def _forget_exited(self) -> None:
        for pid in [pid for pid in self._before if pid != OTHERS and not (PROC / str(pid)).exists()]:
            del self._before[pid]
            for name in ("processes", "commands"):
                self._program.map(name).delete(_key(pid))


def _allocator_sites() -> Iterator[list[Site]]:
    """Functions to count, process by process, while that one's files are open; known files are left out."""
    seen: set[tuple[int, int, int]] = set()
    for pid in sorted(int(path.name) for path in PROC.iterdir() if path.name.isdigit()):
        with suppress(TargetError, OSError), ExitStack() as opened:
            target = Target(pid)
            opened.callback(target.close)
            space = AddressSpace(target)
            opened.callback(space.close)
            found = SiteFinder(space, AllocatorOptions(), but_of=seen).new_sites()
            yield [site for site in found if not site.is_wrapper]
            seen |= {mapping.file_id for mapping in space.mappings()}


def _place(site: Site) -> tuple[int, int, int]:
    status = Path(site.path).stat()
    return status.st_dev, status.st_ino, site.start


def _difference(now: tuple[int, ...], before: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(new - old for new, old in zip(now, before, strict=True))


def _key(pid: int) -> bytes:
    return struct.pack("=I", pid)


def _number(key: bytes) -> int:
    return int.from_bytes(key, "little")
