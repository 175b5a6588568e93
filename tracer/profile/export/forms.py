"""A profile to any of the forms that other tools read, by the form's name."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, TextIO

from tracer.profile.export.folded import write_one_column
from tracer.profile.export.json import write_json
from tracer.profile.export.picture import Picture
from tracer.profile.export.pprof import write_pprof
from tracer.profile.export.source import Source
from tracer.profile.export.speedscope import write_speedscope


@dataclass(frozen=True, slots=True)
class Form:
    """`write` gets what to write, a stream of bytes that it leaves open, and how a picture of it shall look."""

    title: str
    extension: str
    content_type: str
    write: Callable[[Source, BinaryIO, Picture], None]


@contextmanager
def as_text(out: BinaryIO) -> Iterator[TextIO]:
    text = io.TextIOWrapper(out, encoding="utf-8", errors="replace", newline="")
    try:
        yield text
    finally:
        text.detach()  # flushes, and leaves the bytes' stream open


def _folded(source: Source, out: BinaryIO, _picture: Picture) -> None:
    with as_text(out) as text:
        write_one_column(source.profile, 0, text)


def _pprof(source: Source, out: BinaryIO, _picture: Picture) -> None:
    write_pprof(source.profile, out)


def _speedscope(source: Source, out: BinaryIO, picture: Picture) -> None:
    with as_text(out) as text:
        write_speedscope(source.profile, text, name=picture.title or "memflame")


def _json(source: Source, out: BinaryIO, _picture: Picture) -> None:
    with as_text(out) as text:
        write_json(source.profile, text)


def _table(source: Source, out: BinaryIO, _picture: Picture) -> None:
    from tracer.profile.export.table import write_table  # numpy: not for text forms

    with as_text(out) as text:
        write_table(source.tree, text)


def _svg(source: Source, out: BinaryIO, picture: Picture) -> None:
    from tracer.profile.export.svg import write_svg

    with as_text(out) as text:
        write_svg(source.tree, 0, text, picture)


FORMS: Mapping[str, Form] = {
    "svg": Form("Picture, SVG", "svg", "image/svg+xml", _svg),
    "folded": Form("Folded stacks", "folded", "text/plain; charset=utf-8", _folded),
    "pprof": Form("pprof", "pb.gz", "application/octet-stream", _pprof),
    "speedscope": Form("speedscope", "speedscope.json", "application/json", _speedscope),
    "json": Form("JSON", "json", "application/json", _json),
    "csv": Form("Table of functions, CSV", "csv", "text/csv; charset=utf-8", _table),
}
"""All value types, the default one first, but for folded text and the picture, which have one: the first."""
