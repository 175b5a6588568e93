"""Two stored trees to a file of their difference, in a form that other tools read or that a person opens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import BinaryIO

from django.http import FileResponse

from tracer.profile import tree
from tracer.profile.alignment import AS_NAMED, Alignment
from tracer.profile.export.diff_forms import DIFF_WRITERS, Difference
from tracer.profile.export.picture import Picture
from webapp.compare import plain
from webapp.compare.sides import Side, common_value_types, refused, why_missing, why_none
from webapp.flamegraph.exports import NoSuchExport, download, refuse_thinned
from webapp.flamegraph.pictures import picture_of


class NotNormalized(ValueError):
    """No factor makes both totals equal; the text is for people."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a difference is written: of which value type, under which names, in which numbers, and how it looks."""

    value_type: str = ""  # the first that both have
    alignment: Alignment = AS_NAMED
    is_normalized: bool = False  # values before are scaled so that both totals are equal
    picture: Picture = Picture()

    @classmethod
    def of(cls, query: Mapping[str, str], alignment: Alignment) -> Wanted:
        """Raises BadPicture."""
        is_normalized = query.get("normalize", "").lower() not in ("", "0", "false")
        return cls(query.get("value_type", ""), alignment, is_normalized, picture_of(query))


def difference_file(before: Side, after: Side, form: str, wanted: Wanted) -> FileResponse:
    if form not in DIFF_WRITERS:
        raise NoSuchExport(f"There is no form {form!r}, there is {', '.join(DIFF_WRITERS)}.")
    for side in (before, after):
        refuse_thinned(side.snapshot)
    common = common_value_types(before, after, is_scaled=wanted.is_normalized)
    check_common(before, after, wanted.value_type, common)
    chosen = replace(wanted, value_type=wanted.value_type or common[0])
    look = replace(wanted.picture, title=wanted.picture.title or plain.title(before, after))

    def write(out: BinaryIO) -> None:
        DIFF_WRITERS[form](_difference(before, after, chosen), out, look)

    return download(write, form, f"{before.name}-{after.name}-{chosen.value_type}")


def check_common(before: Side, after: Side, value_type: str, common: list[str]) -> None:
    """`value_type` may be empty for any. Raises NoSuchExport, which says why."""
    if not common:
        raise NoSuchExport(why_none(before, after))
    if value_type and value_type not in common:
        because = " ".join(refused(before, after))
        words = f"{why_missing(before, after, value_type)}, there is {', '.join(common)}. {because}"
        raise NoSuchExport(words.rstrip())


def _difference(before: Side, after: Side, wanted: Wanted) -> Difference:
    sides = [tree.aligned(side.tree(wanted.value_type), wanted.alignment) for side in (before, after)]
    diff = tree.merge(sides[0], sides[1], wanted.value_type)
    if not wanted.is_normalized:
        return Difference(diff, alignment=wanted.alignment)
    try:
        return Difference.normalized(diff, wanted.alignment)
    except ValueError as error:
        raise NotNormalized(f"The sides were not normalized: {error}.") from None
