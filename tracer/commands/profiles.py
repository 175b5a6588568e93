"""What the commands that read profile files share: reading one, or saying why not."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeVar

import typer

from tracer import protocol
from tracer.procfs import read_table
from tracer.procfs.table import Table
from tracer.profile.errors import NotStacks, ProfileError
from tracer.profile.formats import read_labels, read_moments, read_profile
from tracer.profile.formats.pprof_labels import Label
from tracer.profile.formats.reading import Moment
from tracer.profile.model import Profile

Read = TypeVar("Read", Profile, Table)


def load(file: Path, columns: int | None = None) -> Profile:
    """Read a profile, `-` being standard input; ends the command with exit code 1 and a sentence when it can't."""
    with _readable(file) as stream:
        return _told(file, _read_profile(stream, columns))


def load_any(
    file: Path, columns: int | None = None, labels: Mapping[str, Sequence[str]] | None = None
) -> Profile | Table:
    """Like `load`, of tables over time as well; of pprof only samples with these labels."""
    with _readable(file) as stream:
        try:
            return _told(file, _read_profile(stream, columns, labels))
        except NotStacks as found:
            return _told(file, read_table(found))


def load_moments(file: Path, columns: int | None = None) -> Iterator[Moment]:
    """Like `load`, of all points in time in the file, one after the other."""
    with _readable(file) as stream:
        for moment in read_moments(stream, resolve=protocol.value_type_named, columns=columns):
            _told(file, moment.profile)
            yield moment


def load_labels(file: Path) -> list[Label]:
    """The labels that samples of a pprof profile have."""
    with _readable(file) as stream:
        return read_labels(stream)


def _read_profile(stream: BinaryIO, columns: int | None, labels: Mapping[str, Sequence[str]] | None = None) -> Profile:
    return read_profile(stream, resolve=protocol.value_type_named, columns=columns, labels=labels)


@contextmanager
def _readable(file: Path) -> Iterator[BinaryIO]:
    try:
        with nullcontext(sys.stdin.buffer) if str(file) == "-" else file.open("rb") as stream:
            yield stream
    except ProfileError as error:
        fail(f"{file} was not read: {error}")
    except OSError as error:
        fail(f"{file} was not read: {error.strerror or error}")


def _told(file: Path, found: Read) -> Read:
    """The same, after telling what was skipped."""
    if found.skipped_lines:
        first = found.skipped[0]
        about = f"the first is {first.number} ({first.reason}): {first.text!r}"
        say(f"{file}: skipped {found.skipped_lines:,} lines, {about}")
    return found


def say(sentence: str) -> None:
    print(f"memflame: {sentence}", file=sys.stderr)


def fail(sentence: str) -> NoReturn:
    say(sentence)
    raise typer.Exit(1)


@contextmanager
def closed_early_is_fine() -> Iterator[None]:
    """`memflame … | head` ends without a traceback."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()  # or the interpreter complains when it flushes standard output once more
        raise typer.Exit(1) from None
