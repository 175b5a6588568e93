"""The RunView: one dict of a run and its snapshots, the same for the API and the live socket, in four queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from tracer import protocol
from webapp.runs.models import Payload, Run, Snapshot
from webapp.runs.tags import payload_tag
from webapp.runs.templatetags.numbers import duration
from webapp.teams.models import CodePreset

MANY_SNAPSHOTS = 50  # of more, a brief view has the captures of two only: each may have 100,000 characters
PLOTTED_OF_CAPTURE = ("interval_s", "thinned")  # what the time line reads of every snapshot
COLUMNS = (
    *("run", "seq", "elapsed_s", "label", "revision", "nodes"),
    *("skipped_lines", "skipped", "error", "value_types", "capture"),
)
SHOWN_OF_VALUE_TYPE = ("name", "unit", "kind", "meaning", "is_signed", "is_float")


def run_view(run: Run, *, is_brief: bool = False) -> dict[str, Any]:
    """All that the run page shows. Cost: three queries beside its own (use `for_view`), whatever its snapshots.

    A brief one of many snapshots has the captures of two: of the newest and of the one shown by default.
    """
    snapshots = list(run.snapshots.only(*COLUMNS))
    last = next((snapshot for snapshot in reversed(snapshots) if snapshot.value_types), None)
    return {
        "run": run.run_id,
        "title": run.title,
        "project": run.project.slug if run.project else None,
        "service": run.service,
        "deploy": run.deploy,
        "collector": run.collector,
        "collector_title": collector_title(run.collector),
        "labels": run.labels,
        "host": run.host_name,
        "pid": run.pid or (last.capture.get("pid") if last else None),
        "command": run.command,
        "created_by": run.created_by.get_username() if run.created_by else None,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "expected_snapshots": run.expected_snapshots,
        "is_preview": run.project_id is None,
        "is_pushed": run.is_pushed,
        "preview_until": run.preview_until,
        **progress_view(run),
        "value_types": value_types_view(last),
        "snapshots": brief_views(snapshots, run.shown_seq) if is_brief else snapshot_views(snapshots),
        "code_presets": CodePreset.views_of(run.project),
        "payload_url": f"/runs/{run.run_id}/payload/{{seq}}/{{value_type}}/{{tag}}/{{stage}}",
        "url": f"/runs/{run.run_id}",
    }


def progress_view(run: Run) -> dict[str, Any]:
    """What changes while the run records."""
    return {
        "state": run.state,
        "reason": run.reason,
        "elapsed_s": run.elapsed_s,
        "duration_s": run.duration_s,
        "events": run.events,
        "lost": run.lost,
        "stop_requested": run.stop_requested,
        "shown_seq": run.shown_seq,
        "is_open": run.is_open,
    }


def listed_view(run: Run) -> dict[str, Any]:
    """A row of the list of runs."""
    return {
        "run": run.run_id,
        "url": f"/runs/{run.run_id}",
        "title": run.title,
        "state": run.state,
        "reason": run.reason,
        "service": run.service,
        "deploy": run.deploy,
        "collector": run.collector,
        "host": run.host_name,
        "labels": run.labels,
        "created_by": run.created_by.get_username() if run.created_by else None,
        "created_at": run.created_at,
        "elapsed_s": run.elapsed_s,
        "value_type": run.value_type,
        "unit": run.unit,
        "total": run.total,
        "snapshots": run.snapshot_count,
    }


def snapshot_views(snapshots: Collection[Snapshot]) -> list[dict[str, Any]]:
    """One query for the payloads of all of them; the payloads' bytes stay in the database."""
    tags: dict[int, dict[str, Any]] = {snapshot.pk: {} for snapshot in snapshots}
    revision = {snapshot.pk: snapshot.revision for snapshot in snapshots}
    rows = Payload.objects.filter(snapshot__in=list(tags)) if tags else Payload.objects.none()
    columns = "snapshot_id", "revision", "value_type", "content_hash", "overview_is_full"
    for pk, of_revision, value_type, content_hash, is_full in rows.values_list(*columns):
        if of_revision == revision[pk]:
            tags[pk][value_type] = [payload_tag(of_revision, content_hash), is_full]
    return [_snapshot_view(snapshot, tags[snapshot.pk]) for snapshot in snapshots]


def brief_views(snapshots: Collection[Snapshot], shown_seq: int = 0) -> list[dict[str, Any]]:
    """The same; of many snapshots, what most captures say is left out, and `is_brief` says so."""
    views = snapshot_views(snapshots)
    if len(views) <= MANY_SNAPSHOTS:
        return views
    whole = {views[-1]["seq"], shown_seq}
    return [view if view["seq"] in whole else _brief(view) for view in views]


def _brief(view: dict[str, Any]) -> dict[str, Any]:
    capture = {key: view["capture"][key] for key in PLOTTED_OF_CAPTURE if key in view["capture"]}
    return view | {"capture": capture, "skipped": [], "is_brief": True}


def capture_view(snapshot: Snapshot) -> dict[str, Any]:
    """What a brief view leaves out."""
    return {"capture": snapshot.capture, "skipped": snapshot.skipped}


def _snapshot_view(snapshot: Snapshot, tags: dict[str, Any]) -> dict[str, Any]:
    return {
        "seq": snapshot.seq,
        "elapsed_s": snapshot.elapsed_s,
        "label": snapshot.label,
        "revision": snapshot.revision,
        "nodes": snapshot.nodes,
        "skipped_lines": snapshot.skipped_lines,
        "skipped": snapshot.skipped,
        "error": snapshot.error,
        "totals": {row["name"]: row["total"] for row in snapshot.value_types},
        "tags": tags,
        "capture": snapshot.capture,
    }


def snapshot_title(snapshot: Snapshot) -> str:
    """What its file calls it, else its time, else its number."""
    if snapshot.label:
        return snapshot.label
    return duration(snapshot.elapsed_s) if snapshot.elapsed_s else f"snapshot {snapshot.seq}"


def value_types_view(snapshot: Snapshot | None) -> list[dict[str, Any]]:
    rows: Iterable[dict[str, Any]] = snapshot.value_types if snapshot else ()
    return [{key: row[key] for key in SHOWN_OF_VALUE_TYPE} for row in rows]


def collector_title(collector: str) -> str:
    """What people call the collector; the format of an upload is its own title."""
    facts = protocol.COLLECTORS.get(collector)
    return facts.title if facts else f"Upload ({collector})" if collector != "upload" else "Upload"
