"""`memflame convert`: read a profile, list its value types or write it as folded stacks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from tracer.commands import pictures
from tracer.commands.profiles import closed_early_is_fine, fail, load
from tracer.profile.export.forms import FORMS
from tracer.profile.export.picture import MIN_WIDTH, PALETTES, WIDTH, Picture
from tracer.profile.export.source import Source
from tracer.profile.folded import write_folded
from tracer.profile.model import Profile

FOLDED = "folded"


def convert(
    file: Annotated[Path, typer.Argument(help="A profile in any format that memflame reads; - is standard input")],
    list_: Annotated[bool, typer.Option("--list", help="Print its value types as JSON")] = False,
    value: Annotated[str, typer.Option(metavar="NAME", help="Value type to write; default: the first")] = "",
    to: Annotated[str, typer.Option(metavar="FORM", help=f"What to write: {', '.join(FORMS)}")] = FOLDED,
    all_values: Annotated[bool, typer.Option("--all-values", help="Write all value types, in our folded form")] = False,
    columns: Annotated[
        int | None, typer.Option(min=1, max=64, help="Values a line, of folded text without our header")
    ] = None,
    snapshots: Annotated[bool, typer.Option("--snapshots", help="With --list: one row for each snapshot")] = False,
    title: pictures.Title = "",
    subtitle: pictures.Subtitle = "",
    count_name: pictures.CountName = "",
    colors: pictures.Colors = PALETTES[0],
    icicle: pictures.Icicle = False,
    width: pictures.Width = WIDTH,
    min_width: pictures.MinWidth = MIN_WIDTH,
    font: pictures.Font = "",
) -> None:
    """Read a profile and write it as folded stacks (one value a line, root first, sorted) or in another form.

    Exit codes: 0 ok, 1 the file could not be read, 2 wrong usage.
    """
    pictures.one_of("--to", to, tuple(FORMS))
    palette = pictures.one_of("--colors", colors, PALETTES)
    if all_values and value:
        raise typer.BadParameter("--all-values writes every value type; --value picks one")
    look = Picture(
        title=title or file.name, subtitle=subtitle, count_name=count_name, palette=palette, is_icicle=icicle,
        width=width, min_width=min_width, font=font,
    )  # fmt: skip
    profile = load(file, columns)
    with closed_early_is_fine():
        if list_ or snapshots:
            print(json.dumps(listing(profile, with_snapshot=snapshots), indent=1, ensure_ascii=False))
        elif all_values and to == FOLDED:
            write_folded(profile, sys.stdout.buffer)
        else:
            chosen = profile.only(_column(profile, value)) if value else profile
            FORMS[to].write(Source(profile=chosen), sys.stdout.buffer, look)


def listing(profile: Profile, *, with_snapshot: bool = False) -> list[dict[str, object]]:
    """One object a value type. Folded text holds one snapshot, number 1."""
    return [
        {
            **({"snapshot": 1} if with_snapshot else {}),
            "name": known.name,
            "unit": known.unit,
            "kind": known.kind,
            "total": profile.total(column),
            "stacks": profile.stacks_with(column),
            "skipped_lines": profile.skipped_lines,
        }
        for column, known in enumerate(profile.value_types)
    ]


def _column(profile: Profile, value: str) -> int:
    try:
        return profile.column(value) if value else 0
    except KeyError as error:
        fail(error.args[0])
