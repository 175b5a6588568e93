"""A bcc program: compiled from `.c` files with defines, attached by descriptors that we own, taken away by `close`."""

from __future__ import annotations

import atexit
import ctypes
import os
import platform
import re
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tracer.bpf import syscalls
from tracer.bpf.errors import BpfError
from tracer.bpf.maps import Counters, Map, online_processors
from tracer.bpf.tracefs import ensure_tracefs

HERE = Path(__file__).parent
_STUB_HEADERS = HERE / "headers"
_PROGRAM_KPROBE, _PROGRAM_PERF_EVENT = 2, 7  # uapi/linux/bpf.h; uprobes are of type kprobe
RECORDS_A_ROUND = 1024
_GONE_WITHIN_S = 5.0  # the kernel frees a program one grace period after its last user


ProbeKind = Literal["emulated", "single-step", "return", "tracepoint", "perf event"]


@dataclass(frozen=True, slots=True)
class Runs:
    """Of programs, as far as run statistics were on."""

    count: int = 0
    ns: int = 0

    def __add__(self, other: Runs) -> Runs:
        return Runs(self.count + other.count, self.ns + other.ns)

    def __sub__(self, earlier: Runs) -> Runs:
        return Runs(self.count - earlier.count, self.ns - earlier.ns)


@dataclass(frozen=True, slots=True)
class KernelIds:
    """Numbers by which the kernel knows programs and links; `bpftool prog` and `bpftool link` show them."""

    programs: frozenset[int] = frozenset()
    links: frozenset[int] = frozenset()


class Program:
    """Compiled on creation; also attaches functions that bcc names `tracepoint__…`.

    Sources are joined in order, since bcc translates map access in the main file only.
    """

    def __init__(
        self,
        sources: Sequence[Path],
        *,
        defines: Mapping[str, int | str],
        counters: Sequence[str] = (),
        multi_links: bool | None = None,
    ) -> None:
        ensure_tracefs()
        self._multi_links = has_multi_links() if multi_links is None else multi_links
        self._fds: list[int] = []
        self._program_ids: set[int] = set()
        self._link_ids: set[int] = set()
        self._records: list[bytes] = []
        self._maps: dict[str, Map] = {}
        numbered = {f"COUNT_{name.upper()}": position for position, name in enumerate(counters)}
        self._bcc = _compile(sources, {**defines, **numbered, "COUNTER_COUNT": max(1, len(counters))})
        # The kernel counts runs by program, so a function is loaded once for each kind of probe that it serves.
        self._programs: dict[tuple[str, ProbeKind], int] = {}
        for name in list(self._bcc.funcs):
            self._own_program(name, "tracepoint")
        self._counters = counters

    # --- maps

    def map(self, name: str) -> Map:
        if name not in self._maps:
            table = self._bcc[name.encode()]
            sizes = ctypes.sizeof(table.Key), ctypes.sizeof(table.Leaf)
            self._maps[name] = Map(table.map_fd, *sizes, table.max_entries)
        return self._maps[name]

    def counters(self) -> dict[str, int]:
        return Counters(self.map("counters"), self._counters).sums()

    def misses(self) -> int:
        """Events that none of our programs saw, though it was attached: none with links of many probes."""
        return sum(syscalls.program_misses(fd) for fd in self._programs.values())

    def begin(self) -> None:
        """Count from now on."""
        self.map("recording").update(struct.pack("=I", 0), struct.pack("=I", 1))

    def release(self) -> None:
        """Count no more from now on, and take all probes away; what was counted stays to be read."""
        # First the switch, which works for all of them at once: detached one by one, some would go on for a while.
        self.map("recording").update(struct.pack("=I", 0), struct.pack("=I", 0))
        self.detach(list(self._fds))
        for tracepoint in list(self._bcc.tracepoint_fds):
            self._bcc.detach_tracepoint(tracepoint)

    def runs(self) -> dict[ProbeKind, Runs]:
        """Of all programs, by the kind of their probes."""
        sums: dict[ProbeKind, Runs] = {}
        for (_, kind), fd in self._programs.items():
            sums[kind] = sums.get(kind, Runs()) + Runs(*syscalls.program_runs(fd))
        return sums

    def open_ring(self, name: str, take: Callable[[bytes], None] | None = None) -> None:
        """Take in the records of a ring buffer from now on, by `records`, or by `take` while that is called."""

        def receive(_context: object, record: int, size: int) -> int:
            (take or self._records.append)(ctypes.string_at(record, size))
            # A negative answer ends the round: a target that is faster than we are would keep us in it for ever.
            return 0 if len(self._records) < RECORDS_A_ROUND else -1

        self._bcc[name.encode()].open_ring_buffer(receive)

    def records(self, timeout_ms: int) -> list[bytes]:
        """At most RECORDS_A_ROUND records, waiting that long for the first."""
        if timeout_ms:
            self._bcc.ring_buffer_poll(timeout_ms)
        else:
            self._bcc.ring_buffer_consume()
        records, self._records = self._records, []
        return records

    # --- probes

    def attach_uprobes(
        self, function: str, path: str, points: Sequence[tuple[int, int]], *, pid: int, kind: ProbeKind,
        is_session: bool = False,
    ) -> list[int]:  # fmt: skip
        """Attach to instructions of one kind given as (file offset, cookie), or where a function returns; all or none.

        For a process, or for EVERY_PROCESS. A session has both, in one function.

        Gives the descriptors, for `detach`. OSError EINVAL: an instruction can't be probed, or another tool holds it
        with another reference counter.
        """
        if not self._multi_links:
            return self._attach_each(function, path, points, pid=pid, kind=kind)
        attach_type = syscalls.ATTACH_UPROBE_SESSION if is_session else syscalls.ATTACH_UPROBE_MULTI
        program = self._program_of(function, kind, _PROGRAM_KPROBE, attach_type)
        offsets, cookies = zip(*points, strict=True)
        link = syscalls.link_uprobes(
            program, path, offsets, cookies, pid=pid, is_return=kind == "return", attach_type=attach_type
        )
        return self._own_links([link])

    def _attach_each(
        self, function: str, path: str, points: Sequence[tuple[int, int]], *, pid: int, kind: ProbeKind
    ) -> list[int]:
        program = self._program_of(function, kind, _PROGRAM_KPROBE)
        opened: list[int] = []
        try:
            for offset, cookie in points:
                event = syscalls.open_uprobe(path, offset, pid=pid, is_return=kind == "return")
                opened.append(event)
                opened.extend(self._own_links([syscalls.link_perf_event(program, event, cookie)]))
                self._fds.append(event)
        except OSError:
            self.detach(opened)
            raise
        return opened

    def attach_software_event(self, function: str, config: int) -> None:
        """Run a function each time a perf software event fires, on every processor."""
        program = self._program_of(function, "perf event", _PROGRAM_PERF_EVENT)
        for cpu in online_processors():
            event = syscalls.open_software_event(config, cpu=cpu)
            self._fds.append(event)
            syscalls.run_on_event(program, event)

    def detach(self, fds: Sequence[int]) -> None:
        for fd in reversed(fds):
            os.close(fd)
            if fd in self._fds:
                self._fds.remove(fd)

    def close(self) -> None:
        """Detach all; afterwards the kernel holds no program and no link of ours, else BpfError."""
        # A bcc object is falsy until a table of it was opened: only `is None` tells.
        if self._bcc is None:
            return
        self.detach(list(self._fds))
        for fd in self._programs.values():
            os.close(fd)
        self._programs.clear()
        self._bcc.cleanup()
        atexit.unregister(self._bcc.cleanup)
        self._bcc = None
        self._await_gone()

    def kernel_ids(self) -> KernelIds:
        """What the kernel has of ours at this moment."""
        return KernelIds(
            frozenset(self._program_ids.intersection(syscalls.loaded_program_ids())),
            frozenset(self._link_ids.intersection(syscalls.link_ids())),
        )

    def _await_gone(self) -> None:
        deadline = time.monotonic() + _GONE_WITHIN_S
        while (left := self.kernel_ids()) != KernelIds():
            if time.monotonic() > deadline:
                raise BpfError(f"{len(left.programs)} BPF programs and {len(left.links)} links of ours did not go away")
            time.sleep(0.01)

    # --- inside

    def _own_links(self, links: list[int]) -> list[int]:
        self._fds.extend(links)
        self._link_ids |= {syscalls.link_id(link) for link in links}
        return links

    def _program_of(self, function: str, kind: ProbeKind, program_type: int, attach_type: int = -1) -> int:
        if (function, kind) not in self._programs:
            try:
                self._bcc.load_func(function.encode(), program_type, attach_type=attach_type)
            except Exception as error:  # bcc raises nothing finer
                raise BpfError(str(error)) from error
            self._own_program(function.encode(), kind)
        return self._programs[function, kind]

    def _own_program(self, name: bytes, kind: ProbeKind) -> None:
        """Take a loaded function out of bcc's hands, which would not load it again."""
        fd = self._programs[name.decode(), kind] = int(self._bcc.funcs.pop(name).fd)
        self._program_ids.add(syscalls.program_id(fd))


def has_multi_links(release: str = platform.release()) -> bool:
    """Whether this kernel takes many uprobes in one link."""
    return kernel_version(release) >= (6, 6, 0)


def has_session_links(release: str = platform.release()) -> bool:
    """Whether one link of this kernel can have entries and returns, and let a return alone."""
    return kernel_version(release) >= (6, 13, 0)


def kernel_version(release: str = platform.release()) -> tuple[int, int, int]:
    match = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", release)
    if match is None:
        raise BpfError(f"kernel release is {release!r}, expected numbers as in 6.1.0")
    major, minor, patch = (int(part or 0) for part in match.groups())
    return major, minor, patch


def _compile(sources: Sequence[Path], defines: Mapping[str, int | str]) -> Any:
    major, minor, patch = kernel_version()
    version = (major << 16) + (minor << 8) + min(patch, 255)
    flags = [f"-D{name}={value}" for name, value in {**defines, "MEMFLAME_KERNEL_VERSION": version}.items()]
    text = "\n".join(f'#line 1 "{source.name}"\n{source.read_text()}' for source in sources)
    os.environ["BCC_KERNEL_SOURCE"] = str(_STUB_HEADERS)
    try:
        from bcc import BPF
    except ImportError as error:
        raise BpfError("bcc is missing: install the package python3-bpfcc") from error
    try:
        return BPF(text=text.encode(), cflags=flags)
    except Exception as error:  # bcc raises nothing finer
        names = ", ".join(source.name for source in sources)
        raise BpfError(f"bcc could not load {names}: {error}") from error
