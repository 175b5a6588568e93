"""A file of any known format to a profile: unpacked, recognised by content, read within limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

from tracer.profile.errors import EmptyProfile, LimitExceeded, MalformedProfile, NotStacks, UnrecognizedFormat
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
from tracer.profile.formats.reading import Importer, Moment, MomentImporter, Reading
from tracer.profile.formats.storable import make_storable
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

    Of a file with several points in time it is the one shown by default. `resolve` names value types:
    protocol.value_type_named. `labels` picks samples of pprof, by key. Raises a ProfileError whose text is for people.
    """
    reading = Reading(limits or Limits(), resolve, columns, labels or {})
    importer, steps = _recognised(stream, reading)
    profile = importer.read(steps, reading)
    return _finished(profile, importer)


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
        _finished(moment.profile, importer)
        yield moment
    if count == 0:
        raise EmptyProfile("the file holds no stack")


def _moments(importer: Importer, steps: Iterator[bytes], reading: Reading) -> Iterator[Moment]:
    if isinstance(importer, MomentImporter):
        return importer.read_moments(steps, reading)
    return iter([Moment(importer.read(steps, reading), elapsed_s=None, label="")])


def _finished(profile: Profile, importer: Importer) -> Profile:
    profile.format = importer.NAME
    make_storable(profile)
    return profile


def _recognised(stream: BinaryIO, reading: Reading) -> tuple[Importer, Iterator[bytes]]:
    head, steps = head_of(unpack(stream, reading.limits))
    if not head:
        raise EmptyProfile("the file is empty")
    if (kind := table_kind(head)) is not None:
        raise NotStacks(kind, steps)
    for importer in FORMATS.values():
        if importer.matches(head):
            if reading.labels and importer is not pprof:
                raise MalformedProfile(_NO_LABELS)
            return importer, steps
    tried = ", ".join(importer.TITLE for importer in FORMATS.values())
    raise UnrecognizedFormat(f"the file is none of the known formats (tried: {tried}); it begins with {head[:16]!r}")


def read_labels(stream: BinaryIO, limits: Limits | None = None) -> list[Label]:
    """The labels that samples of a pprof profile have, each once."""
    limits = limits or Limits()
    head, steps = head_of(unpack(stream, limits))
    if not pprof.matches(head):
        raise MalformedProfile(_NO_LABELS)
    return read_pprof_labels(steps, limits)
