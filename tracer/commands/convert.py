"""`memflame convert`: read a profile, list its value types or write it as folded stacks."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from tracer.commands.profiles import closed_early_is_fine, fail, load, load_moments
from tracer.profile.export.forms import FORMS
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
    snapshots: Annotated[
        bool, typer.Option("--snapshots", help="List the value types of every snapshot in the file")
    ] = False,
    snapshot: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Take this one of the file's snapshots; default: as --list")
    ] = None,
) -> None:
    """Read a profile and write it as folded stacks: one value a line, root first, sorted.

    Of a file with several points in time one is taken: the peak of massif, the last report of memleak.

    Exit codes: 0 ok, 1 the file could not be read, 2 wrong usage.
    """
    if to not in FORMS:
        raise typer.BadParameter(f"--to is {to!r}, there is {', '.join(FORMS)}")
    if all_values and value:
        raise typer.BadParameter("--all-values writes every value type; --value picks one")
    if snapshots and snapshot:
        raise typer.BadParameter("--snapshots lists every snapshot; --snapshot picks one")
    if snapshots:
        _print_json(listing_of_all(file, columns))
        return
    profile = _picked(file, columns, snapshot) if snapshot else load(file, columns)
    with closed_early_is_fine():
        if list_:
            _print_json(listing(profile))
        elif all_values and to == FOLDED:
            write_folded(profile, sys.stdout.buffer)
        else:
            chosen = profile.only(_column(profile, value)) if value else profile
            FORMS[to].write(chosen, sys.stdout.buffer, file.name)


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


def _column(profile: Profile, value: str) -> int:
    try:
        return profile.column(value) if value else 0
    except KeyError as error:
        fail(error.args[0])
