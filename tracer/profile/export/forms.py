"""A profile to any of the forms that other tools read, by the form's name."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, TextIO

from tracer.profile.export.folded import write_one_column
from tracer.profile.export.json import write_json
from tracer.profile.export.pprof import write_pprof
from tracer.profile.export.speedscope import write_speedscope
from tracer.profile.export.table import write_table
from tracer.profile.model import Profile


@dataclass(frozen=True, slots=True)
class Form:
    """`write` gets the profile, a stream of bytes that it leaves open, and a name for tools that show one."""

    title: str
    extension: str
    write: Callable[[Profile, BinaryIO, str], None]


@contextmanager
def _text(out: BinaryIO) -> Iterator[TextIO]:
    text = io.TextIOWrapper(out, encoding="utf-8", errors="replace", newline="")
    try:
        yield text
    finally:
        text.detach()  # flushes, and leaves the bytes' stream open


def _folded(profile: Profile, out: BinaryIO, _name: str) -> None:
    with _text(out) as text:
        write_one_column(profile, 0, text)


def _pprof(profile: Profile, out: BinaryIO, _name: str) -> None:
    write_pprof(profile, out)


def _speedscope(profile: Profile, out: BinaryIO, name: str) -> None:
    with _text(out) as text:
        write_speedscope(profile, text, name=name)


def _json(profile: Profile, out: BinaryIO, _name: str) -> None:
    with _text(out) as text:
        write_json(profile, text)


def _table(profile: Profile, out: BinaryIO, _name: str) -> None:
    with _text(out) as text:
        write_table(profile, text)


FORMS: Mapping[str, Form] = {
    "folded": Form("folded stacks of the first value type", "folded", _folded),
    "pprof": Form("pprof", "pb.gz", _pprof),
    "speedscope": Form("speedscope", "speedscope.json", _speedscope),
    "json": Form("JSON", "json", _json),
    "csv": Form("a table of functions, CSV", "csv", _table),
}
"""All value types, the default one first, but for folded text, which has one column."""
