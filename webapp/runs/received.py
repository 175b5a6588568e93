"""A snapshot's bytes, as they came, to the profile that they hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import BinaryIO, cast

from django.conf import settings
from django.core.files.storage import default_storage

from tracer import protocol
from tracer.profile.errors import EmptyProfile
from tracer.profile.formats import read_moments, read_profile
from tracer.profile.formats.reading import Moment
from tracer.profile.model import Profile
from webapp.runs import told
from webapp.runs.models import Snapshot


def profile_of(snapshot: Snapshot) -> Profile:
    """That of its moment, of a file with several; with the words that its sender told beside it."""
    profile = _read(snapshot)
    told.apply(snapshot.capture, profile)
    return profile


def _read(snapshot: Snapshot) -> Profile:
    with _opened(snapshot) as file:
        if not snapshot.moment:
            return read_profile(file, limits=settings.LIMITS, resolve=protocol.value_type_named)
        moments = read_moments(file, limits=settings.LIMITS, resolve=protocol.value_type_named)
        moment = next(islice(moments, snapshot.moment - 1, None), None)
    if moment is None:
        raise EmptyProfile(f"the file holds no moment {snapshot.moment}")
    return moment.profile


def moments_of(snapshot: Snapshot) -> Iterator[Moment]:
    """What its file is read to: all moments of an upload of one file, else the one shown by default."""
    if snapshot.run.upload_files != 1:
        yield Moment(profile_of(snapshot), elapsed_s=None, label=snapshot.label)
        return
    with _opened(snapshot) as file:
        yield from read_moments(file, limits=settings.LIMITS, resolve=protocol.value_type_named)


@contextmanager
def _opened(snapshot: Snapshot) -> Iterator[BinaryIO]:
    with default_storage.open(snapshot.received, "rb") as file:
        yield cast(BinaryIO, file)
