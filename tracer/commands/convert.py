"""`memflame convert`: read a profile, list its value types or write it as folded stacks."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tracer.commands.profiles import closed_early_is_fine, fail, load
from tracer.profile.export.folded import write_one_column
from tracer.profile.export.json import write_json
from tracer.profile.export.pprof import write_pprof
from tracer.profile.export.speedscope import write_speedscope
from tracer.profile.export.table import write_table
from tracer.profile.folded import write_folded
from tracer.profile.model import Profile


class Form(StrEnum):
    FOLDED = "folded"
    PPROF = "pprof"
    SPEEDSCOPE = "speedscope"
    JSON = "json"
    CSV = "csv"


def convert(
    file: Annotated[Path, typer.Argument(help="A profile in any format that memflame reads; - is standard input")],
    list_: Annotated[bool, typer.Option("--list", help="Print its value types as JSON")] = False,
    value: Annotated[str, typer.Option(metavar="NAME", help="Value type to write; default: the first")] = "",
    to: Annotated[Form, typer.Option(help="What to write to standard output")] = Form.FOLDED,
    all_values: Annotated[bool, typer.Option("--all-values", help="Write all value types, in our folded form")] = False,
    columns: Annotated[
        int | None, typer.Option(min=1, max=64, help="Values a line, of folded text without our header")
    ] = None,
    snapshots: Annotated[bool, typer.Option("--snapshots", help="With --list: one row for each snapshot")] = False,
) -> None:
    """Read a profile and write it as folded stacks: one value a line, root first, sorted.

    Exit codes: 0 ok, 1 the file could not be read, 2 wrong usage.
    """
    if all_values and value:
        raise typer.BadParameter("--all-values writes every value type; --value picks one")
    profile = load(file, columns)
    with closed_early_is_fine():
        if list_ or snapshots:
            print(json.dumps(listing(profile, with_snapshot=snapshots), indent=1, ensure_ascii=False))
        elif to is Form.FOLDED and all_values:
            write_folded(profile, sys.stdout.buffer)
        elif to is not Form.FOLDED:
            _write(profile if not value else profile.only(_column(profile, value)), to, name=file.name)
        else:
            write_one_column(profile, _column(profile, value), sys.stdout)


def _write(profile: Profile, to: Form, *, name: str) -> None:
    """All value types, the default one first."""
    if to is Form.PPROF:
        write_pprof(profile, sys.stdout.buffer)
    elif to is Form.SPEEDSCOPE:
        write_speedscope(profile, sys.stdout, name=name)
    elif to is Form.JSON:
        write_json(profile, sys.stdout)
    else:
        write_table(profile, sys.stdout)


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
