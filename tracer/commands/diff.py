"""`memflame diff`: print stack, value before and value after of two profiles."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from tracer.commands.profiles import closed_early_is_fine, fail, load
from tracer.profile.errors import ProfileError
from tracer.profile.model import Profile


def diff(
    before: Annotated[Path, typer.Argument(help="Profile of the baseline, in any format that memflame reads")],
    after: Annotated[Path, typer.Argument(help="Profile to compare with it")],
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Scale values before so that both totals are equal")
    ] = False,
    value: Annotated[str, typer.Option(metavar="NAME", help="Value type; default: the first that both have")] = "",
) -> None:
    """Print `stack before after`, one line for each stack of either side, sorted.

    Exit codes: 0 ok, 1 a file could not be read or compared, 2 wrong usage.
    """
    sides = load(before), load(after)
    name = _common_value_type(sides, value)
    from tracer.profile import tree  # numpy: not before the files are known to be readable
    from tracer.profile.export.difference import scale_to_after, write_difference

    try:
        merged = tree.merge(tree.build(sides[0]), tree.build(sides[1]), name)
        scale = scale_to_after(merged) if normalize else Fraction(1)
    except (ProfileError, ValueError) as error:
        fail(f"{before} and {after} were not compared: {error}")
    with closed_early_is_fine():
        write_difference(merged, sys.stdout, scale=scale)


def _common_value_type(sides: tuple[Profile, Profile], wanted: str) -> str:
    names = [[known.name for known in profile.value_types] for profile in sides]
    common = [name for name in names[0] if name in names[1] and wanted in ("", name)]
    if not common:
        before, after = (", ".join(side) for side in names)
        said = f"{wanted!r} is not on both sides" if wanted else "the sides have no value type in common"
        fail(f"{said}: {before} before, {after} after")
    return common[0]
