"""A file of any known format to a profile: unpacked, recognised by content, read within limits."""

from __future__ import annotations

from typing import BinaryIO

from tracer.profile.errors import EmptyProfile, UnrecognizedFormat
from tracer.profile.folded import Resolve
from tracer.profile.formats import (
    bpftrace,
    dhat,
    dtrace,
    folded,
    gperftools,
    heaptrack,
    jemalloc,
    massif,
    memcheck,
    memleak,
    mtrace,
    perf_script,
    pprof,
    sanitizer,
    speedscope,
    stackcount,
)
from tracer.profile.formats.reading import Importer, Reading
from tracer.profile.formats.storable import make_storable
from tracer.profile.formats.unpack import head_of, unpack
from tracer.profile.model import Limits, Profile

_IMPORTERS: tuple[Importer, ...] = (
    pprof, speedscope, dhat, jemalloc, gperftools, massif, heaptrack, memleak, bpftrace, memcheck, sanitizer,
    mtrace, perf_script, stackcount, dtrace, folded,
)  # fmt: skip
FORMATS = {importer.NAME: importer for importer in _IMPORTERS}
"""By name, in the order in which they are asked; folded text is last, since any text could be it."""


def read_profile(
    stream: BinaryIO, *, resolve: Resolve, limits: Limits | None = None, columns: int | None = None
) -> Profile:
    """Read a profile, whatever its format and compression. Memory is bounded by the limits, not by the file.

    `resolve` names value types: protocol.value_type_named. Raises a ProfileError whose text is for people.
    """
    reading = Reading(limits or Limits(), resolve, columns)
    head, steps = head_of(unpack(stream, reading.limits))
    if not head:
        raise EmptyProfile("the file is empty")
    for importer in FORMATS.values():
        if importer.matches(head):
            profile = importer.read(steps, reading)
            profile.format = importer.NAME
            make_storable(profile)
            return profile
    tried = ", ".join(importer.TITLE for importer in FORMATS.values())
    raise UnrecognizedFormat(f"the file is none of the known formats (tried: {tried}); it begins with {head[:16]!r}")
