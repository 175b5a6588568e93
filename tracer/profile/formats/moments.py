"""A text read line by line to the points in time that it holds, and to the one of them shown by default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from tracer.profile.errors import EmptyProfile
from tracer.profile.formats.reading import Moment
from tracer.profile.formats.text import numbered_lines
from tracer.profile.model import Limits, Profile


class MomentReader(Protocol):
    """What an importer makes of such a text: both answer the moment that is now complete."""

    def take(self, number: int, line: str) -> Moment | None: ...

    def finish(self) -> Moment | None: ...


def moments_by_line(reader: MomentReader, steps: Iterator[bytes], limits: Limits) -> Iterator[Moment]:
    for number, line in numbered_lines(steps, limits):
        if (moment := reader.take(number, line)) is not None:
            yield moment
    if (last := reader.finish()) is not None:
        yield last


def shown_by_default(moments: Iterator[Moment]) -> Profile:
    """The profile of the moment that takes precedence, with the lines skipped anywhere in the file."""
    skipped = Profile(())
    shown, count = None, 0
    for moment in moments:
        count += 1
        skipped.skip_also(moment.profile)
        if shown is None or moment.precedence >= shown.precedence:
            shown = moment
    if shown is None:
        raise EmptyProfile("the file holds no stack")
    profile = shown.profile
    profile.skipped, profile.skipped_lines = skipped.skipped, skipped.skipped_lines
    if count > 1:
        note = f"The file holds {count:,} points in time; this is one of them."
        profile.capture = {**profile.capture, "notes": [*_notes(profile), note]}
    return profile


def _notes(profile: Profile) -> list[Any]:
    notes = profile.capture.get("notes", [])
    return notes if isinstance(notes, list) else []
