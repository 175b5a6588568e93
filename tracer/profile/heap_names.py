"""Names of heap dumps, as jemalloc gives them, to the processes that wrote them and the order in which they did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

# prefix.PID.SEQ.KIND.heap, where the kind is final, by interval, by hand or at a new high, perhaps packed afterwards.
_DUMP = re.compile(r"(.+)\.(\d{1,10})\.(\d{1,10})\.(?:f|[imu]\d+)\.heap(?:\.(?:gz|zst|bz2|xz))?")


@dataclass(frozen=True, slots=True, order=True)
class Dump:
    prefix: str
    pid: int
    seq: int


@dataclass(frozen=True, slots=True)
class Group:
    """Files that are moments of one process: their places among the names, in order of time."""

    places: list[int]
    title: str  # empty where the names do not tell
    pid: int | None = None


def dump_named(name: str) -> Dump | None:
    found = _DUMP.fullmatch(name)
    return Dump(found[1], int(found[2]), int(found[3])) if found else None


def grouped(names: Sequence[str]) -> list[Group]:
    """One group for each process; one of all, in the order given, if any is no name of a dump."""
    dumps = [dump for name in names if (dump := dump_named(name)) is not None]
    if len(dumps) < len(names):
        return [Group([*range(len(names))], title="")]
    places = sorted(range(len(names)), key=lambda place: dumps[place])
    return [
        Group([*members], f"{prefix}.{pid}.*.heap", pid)
        for (prefix, pid), members in groupby(places, lambda place: (dumps[place].prefix, dumps[place].pid))
    ]
