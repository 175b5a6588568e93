"""A comparison's page to one HTML file: the viewer itself, with the difference of one value type."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from tracer.profile.alignment import Alignment
from webapp.compare.backend import diff_payload
from webapp.compare.comparison import comparison
from webapp.compare.exports import check_common
from webapp.compare.sides import Side, common_value_types
from webapp.flamegraph.cached import packed
from webapp.flamegraph.offline import attachment, offline_context, view_of
from webapp.flamegraph.onefile import one_file
from webapp.flamegraph.serving import quoted


def difference_page(
    request: HttpRequest, before: Side, after: Side, value_type: str, alignment: Alignment
) -> HttpResponse:
    """`request` tells only where the site is."""
    common = common_value_types(before, after)
    check_common(before, after, value_type, common)
    chosen = value_type or common[0]
    context = {
        "before_ref": before.name,
        "after_ref": after.name,
        "before_run_id": before.run.run_id,
        "after_run_id": after.run.run_id,
        **offline_context(request, f"/compare/{before.name}/{after.name}"),
    }
    page = render_to_string("compare/compare.html", context)
    content = one_file(page, _answers(before, after, chosen, alignment))
    return attachment(content, f"{before.name}-{after.name}-{chosen}")


def _answers(before: Side, after: Side, value_type: str, alignment: Alignment) -> dict[str, object]:
    address = f"/compare/{before.name}/{after.name}"
    shown = comparison(before, after, value_type, alignment)
    shown["value_types"] = [known for known in shown["value_types"] if known["name"] == value_type]
    row = diff_payload(before, after, value_type, alignment)
    base = f"{address}/payload/{quoted(value_type)}/{row.tag}"
    whole = {} if row.overview_is_full else {f"{base}/full": packed(row, "full")}
    runs = {
        f"/api/v1/runs/{side.run.run_id}": view_of(*(each.snapshot for each in (before, after) if each.run == side.run))
        for side in (before, after)
    }
    return {f"/api/v1{address}": shown, f"{base}/overview": packed(row, "overview"), **whole, **runs}
