"""`memflame convert`: read a profile, list its value types or write it as folded stacks."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from tracer.commands import pictures, tables
from tracer.commands.profiles import closed_early_is_fine, fail, load_any, load_labels, load_moments
from tracer.procfs.table import Table
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
    label: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only samples of pprof with this label; repeatable")
    ] = None,
    labels: Annotated[bool, typer.Option("--labels", help="Print the labels of pprof samples as JSON")] = False,
    snapshots: Annotated[
        bool, typer.Option("--snapshots", help="List the value types of every snapshot in the file")
    ] = False,
    snapshot: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Take this one of the file's snapshots; default: as --list")
    ] = None,
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

    Of a file with several points in time one is taken: the peak of massif, the last report of memleak.

    Exit codes: 0 ok, 1 the file could not be read, 2 wrong usage.
    """
    pictures.one_of("--to", to, tuple(FORMS))
    palette = pictures.one_of("--colors", colors, PALETTES)
    if all_values and value:
        raise typer.BadParameter("--all-values writes every value type; --value picks one")
    if snapshots and snapshot:
        raise typer.BadParameter("--snapshots lists every snapshot; --snapshot picks one")
    if labels or snapshots:
        _print_json([asdict(found) for found in load_labels(file)] if labels else listing_of_all(file, columns))
        return
    wanted = _values_by_key(label or [])
    profile = _picked(file, columns, snapshot) if snapshot else load_any(file, columns, wanted)
    look = Picture(
        title=title or file.name, subtitle=subtitle, count_name=count_name, palette=palette, is_icicle=icicle,
        width=width, min_width=min_width, font=font,
    )  # fmt: skip
    with closed_early_is_fine():
        if isinstance(profile, Table):
            _show_table(profile, to, is_listed=list_)
        elif list_:
            _print_json(listing(profile))
        elif all_values and to == FOLDED:
            write_folded(profile, sys.stdout.buffer)
        else:
            chosen = profile.only(_column(profile, value)) if value else profile
            FORMS[to].write(Source(profile=chosen), sys.stdout.buffer, look)


def _values_by_key(labels: list[str]) -> dict[str, list[str]]:
    """Of one key, any of its values will do."""
    values: dict[str, list[str]] = {}
    for text in labels:
        key, sign, value = text.partition("=")
        if not sign or not key:
            raise typer.BadParameter(f"--label is {text!r}, KEY=VALUE is needed")
        values.setdefault(key, []).append(value)
    return values


def _print_json(rows: list[dict[str, object]]) -> None:
    with closed_early_is_fine():
        print(json.dumps(rows, indent=1, ensure_ascii=False))


def _picked(file: Path, columns: int | None, number: int) -> Profile:
    count = 0
    for count, moment in enumerate(islice(load_moments(file, columns), number), start=1):
        if count == number:
            return moment.profile
    fail(f"{file} has no snapshot {number:,}, the last is {count:,}")


def listing_of_all(file: Path, columns: int | None) -> list[dict[str, object]]:
    """One object for each value type of each snapshot; its time in seconds, null where the file does not tell."""
    return [
        {"snapshot": number, "label": moment.label, "elapsed_s": moment.elapsed_s, **row}
        for number, moment in enumerate(load_moments(file, columns), start=1)
        for row in listing(moment.profile)
    ]


def listing(profile: Profile) -> list[dict[str, object]]:
    """One object a value type."""
    return [
        {
            "name": known.name,
            "unit": known.unit,
            "kind": known.kind,
            "total": profile.total(column),
            "stacks": profile.stacks_with(column),
            "skipped_lines": profile.skipped_lines,
        }
        for column, known in enumerate(profile.value_types)
    ]


def _show_table(table: Table, to: str, *, is_listed: bool) -> None:
    """It has no stacks, so only the forms that can hold numbers over time are written."""
    if is_listed:
        print(json.dumps(tables.listing(table), indent=1, ensure_ascii=False))
    elif to in tables.FORMS:
        tables.write(table, to, sys.stdout)
    else:
        fail(f"the file is a table ({table.format}), not stacks: --list shows its values, --to json or csv all of it")


def _column(profile: Profile, value: str) -> int:
    try:
        return profile.column(value) if value else 0
    except KeyError as error:
        fail(error.args[0])
