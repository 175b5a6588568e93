"""Comparisons for the compare page, scripts and CI: what the sides are, where the payload is, what to beware of."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from webapp.compare.backend import diff_payload
from webapp.compare.sides import NoSuchSide, NothingToCompare, Side, common_value_types, find_side, names
from webapp.compare.warnings import warnings
from webapp.errors import ApiError
from webapp.runs.runview import SHOWN_OF_VALUE_TYPE
from webapp.teams.auth import session_or_token, viewer_of

router = Router(auth=session_or_token, tags=["compare"])


@router.get(
    "/compare/{before}/{after}",
    response=dict[str, Any],
    summary="Compare two runs or snapshots; each side is r-… (its last snapshot) or r-…@3",
)
def compare(request: HttpRequest, before: str, after: str, value_type: str = "") -> dict[str, Any]:
    """`value_type` defaults to the first that both have, and falls back to it with a warning.

    The first call for a pair merges the trees. `payload_url` has `{value_type}`, `{tag}` and `{stage}`, overview or
    full, to be filled in.
    """
    sides = _side(request, before), _side(request, after)
    common = common_value_types(*sides)
    if not common:
        raise ApiError(
            422, f"The sides have no value type in common: {names(sides[0])} before, {names(sides[1])} after."
        )
    chosen = value_type if value_type in common else common[0]
    view = comparison(*sides, chosen)
    if value_type and chosen != value_type:
        view["warnings"].insert(0, f"{value_type} is not on both sides; {chosen} is shown.")
    return view


def _side(request: HttpRequest, name: str) -> Side:
    try:
        return find_side(viewer_of(request), name)
    except NoSuchSide as error:
        raise ApiError(404, str(error)) from None
    except NothingToCompare as error:
        raise ApiError(409, str(error)) from None


def comparison(before: Side, after: Side, value_type: str) -> dict[str, Any]:
    diff = diff_payload(before, after, value_type)
    rows = [before.value_type(name) for name in common_value_types(before, after)]
    return {
        "before": before.view(value_type),
        "after": after.view(value_type),
        "value_type": value_type,
        "value_types": [{key: row[key] for key in SHOWN_OF_VALUE_TYPE} for row in rows],
        "tag": diff.tag,
        "overview_is_full": diff.overview_is_full,
        "payload_url": f"/compare/{before.name}/{after.name}/payload/{{value_type}}/{{tag}}/{{stage}}",
        "nodes": diff.nodes,
        "common_nodes": diff.common_nodes,
        "warnings": warnings(before, after, value_type, diff),
    }
