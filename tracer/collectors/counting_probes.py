"""Allocator functions to probes that count their calls: one a function, where a recording would place its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from tracer.bpf.placement import Kind, Placement
from tracer.bpf.program import Program
from tracer.collectors.allocators import Site

Role = Literal["allocates", "wraps", "frees"]

_NUMBER_SHIFT = 32  # of a cookie, above where the arguments are
_Placed = tuple[int, Site, Placement]


@dataclass(frozen=True, slots=True)
class FunctionCalls:
    """Calls of one function in one file.

    `wraps` is for those whose block another function makes, such as operator new: they are no allocations of their own.
    """

    module: str
    symbol: str
    role: Role
    kind: Kind  # of the probe that a recording would place, which is what a call costs
    has_ret_probes: bool = False  # an operator new that a recording leaves by its ret instructions: they are dear
    calls: int = 0
    bytes: int = 0  # that it asked for


def attach(program: Program, found: Sequence[Site], *, pid: int) -> dict[int, FunctionCalls]:
    """What was attached, by its number among the sites; a function that can't be probed is left out. pid 0: all."""
    functions: dict[int, FunctionCalls] = {}
    for path, group in groupby(enumerate(found), key=lambda entry: entry[1].path):
        for number, site, place in _attached_in_file(program, path, list(group), pid):
            functions[number] = FunctionCalls(site.module, site.symbol, role_of(site), place.kind, bool(site.rets))
    return functions


def role_of(site: Site) -> Role:
    if site.allocator is None:
        return "frees"
    return "wraps" if site.is_wrapper else "allocates"


def _attached_in_file(program: Program, path: str, group: list[tuple[int, Site]], pid: int) -> list[_Placed]:
    """All of a file at once; one by one, wherever the kernel lets us, if it refuses that."""
    first = [(number, site, site.placements[0]) for number, site in group]
    try:
        _attach_at(program, path, first, pid)
    except OSError:
        return [placed for number, site in group for placed in _attached_anywhere(program, path, number, site, pid)]
    return first


def _attached_anywhere(program: Program, path: str, number: int, site: Site, pid: int) -> Iterator[_Placed]:
    for place in site.placements:
        with suppress(OSError):
            _attach_at(program, path, [(number, site, place)], pid)
            yield number, site, place
            return


def _attach_at(program: Program, path: str, placed: Sequence[_Placed], pid: int) -> None:
    points: defaultdict[tuple[str, Kind], list[tuple[int, int]]] = defaultdict(list)
    for number, site, place in placed:
        cookie = number << _NUMBER_SHIFT | site.cookie_at(place) % (1 << _NUMBER_SHIFT)
        points[_function_for(site), place.kind].append((site.start + place.offset, cookie))
    attached: list[int] = []
    try:
        for (function, kind), at in points.items():
            attached += program.attach_uprobes(function, path, at, pid=pid, kind=kind)
    except OSError:
        program.detach(attached)
        raise


def _function_for(site: Site) -> str:
    """Of counting.c and host_counting.c."""
    return "on_allocation" if site.allocator else "on_free"
