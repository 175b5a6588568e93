"""What the commands that read profile files share: reading one, or saying why not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, NoReturn

import typer

from tracer import protocol
from tracer.profile.errors import ProfileError
from tracer.profile.formats import read_moments, read_profile
from tracer.profile.formats.reading import Moment
from tracer.profile.model import Profile


def load(file: Path, columns: int | None = None) -> Profile:
    """Read a profile, `-` being standard input; ends the command with exit code 1 and a sentence when it can't."""
    with _readable(file) as stream:
        profile = read_profile(stream, resolve=protocol.value_type_named, columns=columns)
    _say_skipped(file, profile)
    return profile


def load_moments(file: Path, columns: int | None = None) -> Iterator[Moment]:
    """Like `load`, of all points in time in the file, one after the other."""
    with _readable(file) as stream:
        for moment in read_moments(stream, resolve=protocol.value_type_named, columns=columns):
            _say_skipped(file, moment.profile)
            yield moment


@contextmanager
def _readable(file: Path) -> Iterator[BinaryIO]:
    try:
        with nullcontext(sys.stdin.buffer) if str(file) == "-" else file.open("rb") as stream:
            yield stream
    except ProfileError as error:
        fail(f"{file} was not read: {error}")
    except OSError as error:
        fail(f"{file} was not read: {error.strerror or error}")


def _say_skipped(file: Path, profile: Profile) -> None:
    if profile.skipped_lines:
        first = profile.skipped[0]
        about = f"the first is {first.number} ({first.reason}): {first.text!r}"
        say(f"{file}: skipped {profile.skipped_lines:,} lines, {about}")


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
