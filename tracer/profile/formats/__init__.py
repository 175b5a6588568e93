"""A file of any known format to a profile: unpacked, recognised by content, read within limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from tracer.profile.errors import EmptyProfile, LimitExceeded, UnrecognizedFormat
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
from tracer.profile.formats.reading import Importer, Moment, MomentImporter, Reading
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

    Of a file with several points in time it is the one shown by default. `resolve` names value types:
    protocol.value_type_named. Raises a ProfileError whose text is for people.
    """
    reading = Reading(limits or Limits(), resolve, columns)
    importer, steps = _recognised(stream, reading)
    profile = importer.read(steps, reading)
    profile.format = importer.NAME
    return profile


def read_moments(
    stream: BinaryIO, *, resolve: Resolve, limits: Limits | None = None, columns: int | None = None
) -> Iterator[Moment]:
    """Like read_profile, of all points in time in the file: one after the other, none of them kept.

    A ProfileError may come after some moments: then the file as a whole can't be read.
    """
    reading = Reading(limits or Limits(), resolve, columns)
    importer, steps = _recognised(stream, reading)
    count = 0
    for count, moment in enumerate(_moments(importer, steps, reading), start=1):
        if count > reading.limits.moments:
            limit = reading.limits.moments
            raise LimitExceeded("number of points in time", limit=limit, value=limit, at_least=True)
        moment.profile.format = importer.NAME
        yield moment
    if count == 0:
        raise EmptyProfile("the file holds no stack")


def _moments(importer: Importer, steps: Iterator[bytes], reading: Reading) -> Iterator[Moment]:
    if isinstance(importer, MomentImporter):
        return importer.read_moments(steps, reading)
    return iter([Moment(importer.read(steps, reading), elapsed_s=None, label="")])


def _recognised(stream: BinaryIO, reading: Reading) -> tuple[Importer, Iterator[bytes]]:
    head, steps = head_of(unpack(stream, reading.limits))
    if not head:
        raise EmptyProfile("the file is empty")
    for importer in FORMATS.values():
        if importer.matches(head):
            return importer, steps
    tried = ", ".join(importer.TITLE for importer in FORMATS.values())
    raise UnrecognizedFormat(f"the file is none of the known formats (tried: {tried}); it begins with {head[:16]!r}")
