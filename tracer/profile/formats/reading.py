"""What an importer is, and what it is told: limits, how value types are named, columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tracer.profile.folded import Resolve
from tracer.profile.model import Limits, Profile


@dataclass(frozen=True, slots=True)
class Reading:
    limits: Limits
    resolve: Resolve
    columns: int | None  # values a line, of folded text without our header


@dataclass(frozen=True, slots=True)
class Moment:
    """One point in time of a file, which may hold many; the lines skipped are those that belong to it."""

    profile: Profile
    elapsed_s: float | None  # since the file's own start, or its first moment; None where it does not tell
    label: str  # what the file calls it; empty where it has no name
    precedence: tuple[int, ...] = ()  # the highest is shown by default, of equal ones the last


class Importer(Protocol):
    """A module of this package. Adding one: the file, a line in FORMATS, a folder of test data, a row in the docs."""

    @property
    def NAME(self) -> str:
        """One word, as stored with a snapshot."""

    @property
    def TITLE(self) -> str:
        """What messages call it."""

    def matches(self, head: bytes) -> bool:
        """Whether these first bytes are of this format, or could be if no importer before this one knew them."""

    def read(self, steps: Iterator[bytes], reading: Reading) -> Profile:
        """Raises one of the errors of tracer.profile.errors; UnrecognizedFormat when all of it is something else."""


@runtime_checkable
class MomentImporter(Protocol):
    """An importer of files that may hold several points in time, besides."""

    def read_moments(self, steps: Iterator[bytes], reading: Reading) -> Iterator[Moment]:
        """One after the other, none of them kept. Raises like `read`, also after some were given."""
