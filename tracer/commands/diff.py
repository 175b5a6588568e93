"""`memflame diff`: print stack, value before and value after of two profiles, or write their difference in a form."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tracer.commands import pictures
from tracer.commands.profiles import closed_early_is_fine, fail, load
from tracer.profile.comparable import Counted, why_not
from tracer.profile.errors import ProfileError
from tracer.profile.export.forms import FORMS
from tracer.profile.export.picture import MIN_WIDTH, WIDTH, WIDTH_MODES, Picture
from tracer.profile.model import Profile


def diff(
    before: Annotated[Path, typer.Argument(help="Profile of the baseline, in any format that memflame reads")],
    after: Annotated[Path, typer.Argument(help="Profile to compare with it")],
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Scale values before so that both totals are equal")
    ] = False,
    value: Annotated[str, typer.Option(metavar="NAME", help="Value type; default: the first that both have")] = "",
    to: Annotated[str, typer.Option(metavar="FORM", help=f"What to write: {', '.join(FORMS)}")] = "folded",
    title: pictures.Title = "",
    subtitle: pictures.Subtitle = "",
    count_name: pictures.CountName = "",
    icicle: pictures.Icicle = False,
    width: pictures.Width = WIDTH,
    min_width: pictures.MinWidth = MIN_WIDTH,
    width_by: pictures.WidthBy = WIDTH_MODES[0],
    font: pictures.Font = "",
) -> None:
    """Print `stack before after`, one line for each stack of either side, sorted; or write another form.

    Exit codes: 0 ok, 1 a file could not be read or compared, 2 wrong usage.
    """
    pictures.one_of("--to", to, tuple(FORMS))
    width_mode = pictures.one_of("--width-by", width_by, WIDTH_MODES)
    look = Picture(
        title=title or f"{before.name} and {after.name}", subtitle=subtitle, count_name=count_name, is_icicle=icicle,
        width=width, min_width=min_width, font=font, width_mode=width_mode,
    )  # fmt: skip
    sides = load(before), load(after)
    name = _common_value_type(sides, value)
    if reason := why_not(*(_counted(side, name) for side in sides), is_scaled=normalize):
        fail(f"{before} and {after} were not compared: {reason}")
    from tracer.profile import tree  # numpy: not before the files are known to be readable
    from tracer.profile.export.diff_forms import DIFF_WRITERS, Difference

    try:
        merged = tree.merge(tree.build(sides[0]), tree.build(sides[1]), name)
        difference = Difference.normalized(merged) if normalize else Difference(merged)
    except (ProfileError, ValueError) as error:
        fail(f"{before} and {after} were not compared: {error}")
    with closed_early_is_fine():
        DIFF_WRITERS[to](difference, sys.stdout.buffer, look)


def _counted(profile: Profile, name: str) -> Counted:
    known = next(known for known in profile.value_types if known.name == name)
    return Counted(name, known.unit, known.kind, profile.capture)


def _common_value_type(sides: tuple[Profile, Profile], wanted: str) -> str:
    names = [[known.name for known in profile.value_types] for profile in sides]
    common = [name for name in names[0] if name in names[1] and wanted in ("", name)]
    if not common:
        before, after = (", ".join(side) for side in names)
        said = f"{wanted!r} is not on both sides" if wanted else "the sides have no value type in common"
        fail(f"{said}: {before} before, {after} after")
    return common[0]
