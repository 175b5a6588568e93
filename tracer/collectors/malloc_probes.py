"""Allocator functions to probes in them: the best instruction that the kernel allows, a whole file in one step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import groupby, product
from typing import get_args

from tracer.bpf.placement import Kind, Placement
from tracer.bpf.program import ProbeKind, Program
from tracer.collectors.allocators import Site
from tracer.collectors.collector import Probe
from tracer.collectors.errors import CollectorError

# Functions of the C source and the sites that they are attached to. Entry and return probe sit on one instruction: at
# different ones the earlier would hide the return address from the later.
Functions = Mapping[str, Callable[[Site], bool]]


class AllocatorProbes:
    """The functions of a C source, attached; they stay so until their program is closed."""

    def __init__(self, program: Program, pid: int, functions: Functions) -> None:
        self._program, self._pid, self._functions = program, pid, functions
        self.probes: list[Probe] = []
        self._rets: defaultdict[str, set[int]] = defaultdict(set)  # probed already, by file: functions can share them

    def attach(self, found: list[Site]) -> None:
        """CollectorError: a function has no instruction that the kernel lets us probe."""
        for path, group in groupby(found, key=lambda site: site.path):
            self._attach_file(path, list(group))

    def _attach_file(self, path: str, group: list[Site]) -> None:
        """All probes of a file in one step; one by one if the kernel refuses that."""
        try:
            self._attach_at(path, [(site, site.placements[0]) for site in group])
        except OSError:
            for site in group:
                self._attach_anywhere(site)

    def _attach_anywhere(self, site: Site) -> None:
        """At the best instruction that the kernel allows: another tool may hold one with a wrong reference counter."""
        refusal: OSError | None = None
        for placement in site.placements:
            try:
                return self._attach_at(site.path, [(site, placement)])
            except OSError as error:
                refusal = error
        raise CollectorError(f"no probe could be placed in {site.symbol} of {site.module}: {refusal}")

    def _attach_at(self, path: str, placed: list[tuple[Site, Placement]]) -> None:
        attached: list[int] = []
        try:
            for (function, is_wanted), kind in product(self._functions.items(), get_args(Kind)):
                chosen = [(site, place) for site, place in placed if is_wanted(site) and place.kind == kind]
                points = [(site.start + place.offset, site.cookie_at(place)) for site, place in chosen]
                attached += self._attached(function, path, points, "return" if function == "on_return" else kind)
            rets = {ret for site, _ in placed for ret in site.rets} - self._rets[path]
            attached += self._attached("on_return", path, [(ret, 0) for ret in sorted(rets)], "single-step")
            self._rets[path] |= rets
        except OSError:
            self._program.detach(attached)
            raise
        for site, place in placed:
            self.probes.append(Probe(site.module, site.symbol, place.offset, place.kind))
            self.probes += [Probe(site.module, site.symbol, ret - site.start, "single-step") for ret in site.rets]

    def _attached(self, function: str, path: str, points: list[tuple[int, int]], kind: ProbeKind) -> list[int]:
        if not points:
            return []
        is_session = function == "on_call"
        return self._program.attach_uprobes(function, path, points, pid=self._pid, kind=kind, is_session=is_session)
