"""Texts of /proc, and of tools that print it, to tables of values: numbers of processes and hosts, not stacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tracer.procfs import meminfo, pidstat, pidstat_json, smaps
from tracer.procfs.table import Table
from tracer.profile.errors import NotStacks
from tracer.profile.model import Limits

_READERS: Mapping[str, Callable[[Iterator[bytes], Limits], Table]] = {
    "pidstat": pidstat.read,
    "pidstat_json": pidstat_json.read,
    "smaps": smaps.read,
    "meminfo": meminfo.read,
}


def read_table(found: NotStacks, limits: Limits | None = None) -> Table:
    """The table that was found where a profile was looked for. Raises a ProfileError whose text is for people."""
    return _READERS[found.kind](found.steps, limits or Limits())
