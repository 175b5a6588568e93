"""The query of an address to the options of a picture, and what a snapshot's picture is called."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.profile.export.picture import MIN_WIDTH, PALETTES, WIDTH, WIDTH_MODES, Picture
from webapp.runs.models import Run, Snapshot
from webapp.runs.templatetags.numbers import duration

VIEWS = ("flame", "icicle")


class BadPicture(ValueError):
    """The query asks for what there is not; the text is for people."""


def picture_of(query: Mapping[str, str]) -> Picture:
    """`title`, `subtitle`, `view`, `colors`, `width`, `min_width`, `font` and, of a difference, `width_by`."""
    return Picture(
        title=query.get("title", "")[:200],
        subtitle=query.get("subtitle", "")[:400],
        palette=_one_of(query, "colors", PALETTES),
        is_icicle=_one_of(query, "view", VIEWS) == "icicle",
        width=int(_number(query, "width", WIDTH, 320, 20_000)),
        min_width=_number(query, "min_width", MIN_WIDTH, 0, 100),
        font=query.get("font", "")[:100],
        width_mode=_one_of(query, "width_by", WIDTH_MODES),
    )


def title_of(snapshot: Snapshot) -> str:
    return title_at(snapshot.run, f"at {duration(snapshot.elapsed_s)}" if snapshot.elapsed_s else "")


def title_at(run: Run, moment: str) -> str:
    return ", ".join(filter(None, [run.service or run.title or run.run_id, run.collector, moment]))


def _one_of(query: Mapping[str, str], key: str, known: tuple[str, ...]) -> str:
    given = query.get(key) or known[0]
    if given not in known:
        raise BadPicture(f"{key} is {given!r}, there is {', '.join(known)}.")
    return given


def _number(query: Mapping[str, str], key: str, default: float, least: float, most: float) -> float:
    given = query.get(key) or default
    try:
        number = float(given)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise BadPicture(f"{key} is {given!r}, a number from {least:,} to {most:,} is needed.")
    return number
