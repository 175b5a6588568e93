"""A file of any known format to a profile: unpacked, recognised by content, read within limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO

from tracer.profile.errors import EmptyProfile, MalformedProfile, NotStacks, UnrecognizedFormat
from tracer.profile.folded import Resolve
from tracer.profile.formats import (
    bpftrace,
    dhat,
    dtrace,
    dtrace_events,
    folded,
    gperftools,
    heaptrack,
    jemalloc,
    massif,
    memcheck,
    memcheck_xml,
    memleak,
    mtrace,
    perf_script,
    pprof,
    sanitizer,
    speedscope,
    stackcount,
    strace,
)
from tracer.profile.formats.pprof_labels import Label
from tracer.profile.formats.pprof_labels import read_labels as read_pprof_labels
from tracer.profile.formats.reading import Importer, Reading
from tracer.profile.formats.tables import table_kind
from tracer.profile.formats.unpack import head_of, unpack
from tracer.profile.model import Limits, Profile

_IMPORTERS: tuple[Importer, ...] = (
    pprof, speedscope, dhat, jemalloc, gperftools, massif, heaptrack, memleak, bpftrace, memcheck_xml, memcheck,
    sanitizer, mtrace, strace, perf_script, stackcount, dtrace_events, dtrace, folded,
)  # fmt: skip
_NO_LABELS = "samples of this format have no labels, only those of pprof have"
FORMATS = {importer.NAME: importer for importer in _IMPORTERS}
"""By name, in the order in which they are asked; folded text is last, since any text could be it."""


def read_profile(
    stream: BinaryIO,
    *,
    resolve: Resolve,
    limits: Limits | None = None,
    columns: int | None = None,
    labels: Mapping[str, Sequence[str]] | None = None,
) -> Profile:
    """Read a profile, whatever its format and compression. Memory is bounded by the limits, not by the file.

    `resolve` names value types: protocol.value_type_named. `labels` picks samples of pprof, by key.
    Raises a ProfileError whose text is for people.
    """
    reading = Reading(limits or Limits(), resolve, columns, labels or {})
    head, steps = head_of(unpack(stream, reading.limits))
    if not head:
        raise EmptyProfile("the file is empty")
    if (kind := table_kind(head)) is not None:
        raise NotStacks(kind, steps)
    for importer in FORMATS.values():
        if importer.matches(head):
            if labels and importer is not pprof:
                raise MalformedProfile(_NO_LABELS)
            profile = importer.read(steps, reading)
            profile.format = importer.NAME
            return profile
    tried = ", ".join(importer.TITLE for importer in FORMATS.values())
    raise UnrecognizedFormat(f"the file is none of the known formats (tried: {tried}); it begins with {head[:16]!r}")


def read_labels(stream: BinaryIO, limits: Limits | None = None) -> list[Label]:
    """The labels that samples of a pprof profile have, each once."""
    limits = limits or Limits()
    head, steps = head_of(unpack(stream, limits))
    if not pprof.matches(head):
        raise MalformedProfile(_NO_LABELS)
    return read_pprof_labels(steps, limits)
