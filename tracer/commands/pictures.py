"""Options of `--to svg`, which `convert` and `diff` share."""

from __future__ import annotations

from typing import Annotated

import typer

from tracer.profile.export.picture import PALETTES, WIDTH_MODES

Title = Annotated[str, typer.Option(metavar="TEXT", help="svg: what stands above; default: the file's name")]
Subtitle = Annotated[str, typer.Option(metavar="TEXT", help="svg: the line below; default: what is counted, its total")]
CountName = Annotated[str, typer.Option(metavar="UNIT", help="svg: unit of the numbers; bytes are written in kB, MB")]
Colors = Annotated[str, typer.Option(metavar="|".join(PALETTES), help="svg: palette; mem is green to blue")]
Icicle = Annotated[bool, typer.Option("--icicle", "--inverted", help="svg: the root on top, stacks grow down")]
Width = Annotated[int, typer.Option(min=320, max=20_000, help="svg: width in pixels where there is no script")]
MinWidth = Annotated[float, typer.Option(min=0.0, max=100.0, help="svg: narrower frames are not drawn, pixels")]
Font = Annotated[str, typer.Option(metavar="NAME", help="svg: font of all words; default: the system's")]
WidthBy = Annotated[str, typer.Option(metavar="|".join(WIDTH_MODES), help="svg: what a frame is as wide as")]


def one_of(option: str, given: str, known: tuple[str, ...]) -> str:
    """The word that was given; a usage error where it is none of these."""
    if given not in known:
        raise typer.BadParameter(f"{option} is {given!r}, there is {', '.join(known)}")
    return given
