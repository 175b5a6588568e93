"""Two sides to what the compare page shows of them: numbers, words of caution, and where the payload is."""

from __future__ import annotations

from typing import Any

from tracer.profile.alignment import Alignment
from webapp.compare.alignment import report
from webapp.compare.backend import diff_payload
from webapp.compare.sides import Side, common_value_types
from webapp.compare.warnings import warnings
from webapp.runs.runview import SHOWN_OF_VALUE_TYPE
from webapp.teams.models import CodePreset


def comparison(before: Side, after: Side, value_type: str, alignment: Alignment) -> dict[str, Any]:
    diff = diff_payload(before, after, value_type, alignment)
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
        "alignment": report(before, after, diff, alignment),
        "code_presets": CodePreset.views_of(after.run.project or before.run.project),
        "warnings": warnings(before, after, value_type, diff),
    }
