"""Two stored trees to a file of their difference, in a form that other tools read or that a person opens."""

from __future__ import annotations

from dataclasses import replace
from typing import BinaryIO

from django.http import FileResponse

from tracer.profile import tree
from tracer.profile.export.diff_forms import DIFF_WRITERS, Difference
from tracer.profile.export.picture import Picture
from webapp.compare import plain
from webapp.compare.sides import Side, common_value_types, names
from webapp.flamegraph.exports import NoSuchExport, download, refuse_thinned


class NotNormalized(ValueError):
    """No factor makes both totals equal; the text is for people."""


def difference_file(
    before: Side, after: Side, form: str, value_type: str, picture: Picture, *, is_normalized: bool
) -> FileResponse:
    """A download; `is_normalized` scales values before so that both totals are equal."""
    if form not in DIFF_WRITERS:
        raise NoSuchExport(f"There is no form {form!r}, there is {', '.join(DIFF_WRITERS)}.")
    for side in (before, after):
        refuse_thinned(side.snapshot)
    common = common_value_types(before, after)
    if not common:
        raise NoSuchExport(f"The sides have no value type in common: {names(before)} before, {names(after)} after.")
    if value_type and value_type not in common:
        raise NoSuchExport(f"{value_type!r} is not on both sides, there is {', '.join(common)}.")
    chosen = value_type or common[0]
    look = replace(picture, title=picture.title or plain.title(before, after))

    def write(out: BinaryIO) -> None:
        difference = _difference(before, after, chosen, is_normalized=is_normalized)
        DIFF_WRITERS[form](difference, out, look)

    return download(write, form, f"{before.name}-{after.name}-{chosen}")


def _difference(before: Side, after: Side, value_type: str, *, is_normalized: bool) -> Difference:
    diff = tree.merge(before.tree(value_type), after.tree(value_type), value_type)
    try:
        return Difference.normalized(diff) if is_normalized else Difference(diff)
    except ValueError as error:
        raise NotNormalized(f"The sides were not normalized: {error}.") from None
