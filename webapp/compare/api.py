"""Comparisons for the compare page, scripts and CI: what the sides are, where the payload is, what to beware of."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from ninja import Field, Query, Router

from tracer.profile.alignment import Alignment, BadAlignment
from tracer.profile.export.picture import WIDTH_MODES
from webapp.compare.alignment import alignment_of, preview
from webapp.compare.comparison import comparison
from webapp.compare.exports import NotNormalized, Wanted, difference_file
from webapp.compare.offline import difference_page
from webapp.compare.sides import (
    NoSuchSide,
    NothingToCompare,
    Side,
    common_value_types,
    find_side,
    why_missing,
    why_none,
)
from webapp.errors import ApiError
from webapp.flamegraph import offline
from webapp.flamegraph.api import PictureQuery
from webapp.flamegraph.exports import NoSuchExport
from webapp.flamegraph.pictures import BadPicture
from webapp.teams.auth import session_or_token, viewer_of

router = Router(auth=session_or_token, tags=["compare"])


class DifferenceQuery(PictureQuery):
    value_type: str = Field("", description="Default: the first that both have")
    rules: str = Field("", description="What names are aligned by, as the fragment of the page has it")
    normalize: bool = Field(False, description="Scale values before so that both totals are equal")
    width_by: str = Field(WIDTH_MODES[0], description="What a frame of svg is as wide as: larger (side) or after")


@router.get(
    "/compare/{before}/{after}",
    response=dict[str, Any],
    summary="Compare two runs or snapshots; each side is r-… (its last snapshot) or r-…@3",
)
def compare(request: HttpRequest, before: str, after: str, value_type: str = "", rules: str = "") -> dict[str, Any]:
    """`value_type` defaults to the first that both have, and falls back to it with a warning.

    `rules` says what names are aligned by, "exact" that they are not; by default it is what their project has.
    The first call for a pair merges the trees. `payload_url` has `{value_type}`, `{tag}` and `{stage}`, overview or
    full, to be filled in.
    """
    sides = _side(request, before), _side(request, after)
    common = common_value_types(*sides)
    if not common:
        raise ApiError(422, why_none(*sides))
    chosen = value_type if value_type in common else common[0]
    view = comparison(*sides, chosen, _alignment(rules, *sides))
    if value_type and chosen != value_type:
        view["warnings"].insert(0, f"{why_missing(*sides, value_type)}; {chosen} is shown.")
    return view


@router.get(
    "/compare/{before}/{after}/export/{form}",
    summary="A difference as html (the viewer in one file), svg, folded, pprof, speedscope, json or csv",
)
def export_difference(
    request: HttpRequest, before: str, after: str, form: str, query: Query[DifferenceQuery]
) -> HttpResponseBase:
    """The file, as an attachment: `curl -OJ`."""
    sides = _side(request, before), _side(request, after)
    try:
        alignment = _alignment(query.rules, *sides)
        if form == offline.FORM:
            return difference_page(request, *sides, query.value_type, alignment)
        wanted = Wanted.of({key: str(value) for key, value in query.dict().items()}, alignment)
        return difference_file(*sides, form, wanted)
    except NoSuchExport as error:
        raise ApiError(404, str(error)) from None
    except (BadPicture, NotNormalized) as error:
        raise ApiError(422, str(error)) from None


@router.get(
    "/compare/{before}/{after}/alignment",
    response=dict[str, Any],
    summary="What rules would do to the names of two runs or snapshots, with a few examples",
)
def preview_alignment(request: HttpRequest, before: str, after: str, rules: str) -> dict[str, Any]:
    """Rules that are none are no failure while a person types: the answer has `error`, which says why."""
    sides = _side(request, before), _side(request, after)
    try:
        return preview(*sides, alignment_of(rules, *sides))
    except BadAlignment as error:
        return {"error": str(error)}


def _alignment(rules: str, before: Side, after: Side) -> Alignment:
    try:
        return alignment_of(rules, before, after)
    except BadAlignment as error:
        raise ApiError(422, str(error)) from None


def _side(request: HttpRequest, name: str) -> Side:
    try:
        return find_side(viewer_of(request), name)
    except NoSuchSide as error:
        raise ApiError(404, str(error)) from None
    except NothingToCompare as error:
        raise ApiError(409, str(error)) from None
