"""What a profile says of itself, to the columns of its snapshot and its run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.utils import timezone

from tracer import protocol
from tracer.profile.gaps import gaps_of
from tracer.profile.grade import grade
from tracer.profile.model import Profile, SkippedLine
from tracer.profile.tree import CallTree
from webapp.runs.models import Run, Snapshot

MAX_CAPTURE_CHARACTERS = 100_000  # it goes into a row, and to every open page
MAX_CAPTURE_DEPTH = 6
UNIT_CHARACTERS = 40  # of the column; an import's unit may be a name of 200


def of_snapshot(profile: Profile, tree: CallTree) -> dict[str, Any]:
    totals = [tree.total(column) for column in range(len(tree.value_types))]
    return {
        "format": profile.format,
        "capture": _judged(profile),
        "value_types": [
            asdict(protocol.as_captured(known, profile.capture)) | {"total": total}
            for known, total in zip(tree.value_types, totals, strict=True)
        ],
        "nodes": len(tree),
        "stacks": profile.stack_count,
        "skipped_lines": profile.skipped_lines,
        "skipped": [_skipped(line) for line in profile.skipped],
    }


def of_run(run: Run) -> dict[str, Any]:
    """Of the snapshot shown by default; an upload also learns what it is, a recording knows that already."""
    fields: dict[str, Any] = {"changed_at": timezone.now(), "snapshot_count": run.snapshots.count()}
    shown = shown_of(run)
    if shown is None:
        return fields
    first = shown.value_types[0]
    fields |= {"value_type": first["name"], "unit": first["unit"][:UNIT_CHARACTERS], "total": first["total"]}
    return fields if run.spec else fields | _of_upload(run, shown.format, shown.capture)


def shown_of(run: Run) -> Snapshot | None:
    """The snapshot shown by default, of those that could be read: the run's own choice, else the last."""
    read = run.snapshots.filter(revision__gt=0)
    chosen = read.filter(seq=run.shown_seq).first() if run.shown_seq else None
    return chosen or read.order_by("-seq").first()


def _of_upload(run: Run, format_name: str, capture: Mapping[str, Any]) -> dict[str, Any]:
    collector = _text(capture.get("collector"))
    command = _text(capture.get("command"))
    return {
        "collector": collector if collector in protocol.COLLECTORS else format_name,
        "command": command[:300],
        "host_name": run.host_name or _text(capture.get("host"))[:100],
        "title": run.title or command[:200] or "Upload",
        "elapsed_s": _number(capture.get("elapsed_s")),
        "events": int(_number(capture.get("events"))),
        "lost": _lost(capture.get("lost")),
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float:
    """A count or a time that a file claims; 0 if it is neither, or no database could hold it."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 1 << 62 else 0.0  # type: ignore[arg-type,operator]


def _lost(value: object) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    return {str(cause): int(_number(count)) for cause, count in value.items() if _number(count)}


def _capture(capture: Mapping[str, object]) -> dict[str, Any]:
    kept: dict[str, Any] = {key: _storable(capture[key]) for key in protocol.CAPTURE_KEYS if key in capture}
    size = len(json.dumps(kept))
    if size <= MAX_CAPTURE_CHARACTERS:
        return kept
    note = f"The capture header has {size:,} characters, the limit is {MAX_CAPTURE_CHARACTERS:,}; it was not kept."
    return {"notes": [note]}


def _judged(profile: Profile) -> dict[str, Any]:
    """With shares and grade found in the profile itself: what a file claims of them may be anything."""
    capture = _capture(profile.capture)
    gaps = gaps_of(profile, is_ours=_text(capture.get("collector")) in protocol.COLLECTORS)
    capture |= {name: found for name, found in asdict(gaps).items() if found}
    return capture | {"grade": grade(capture, skipped_lines=profile.skipped_lines).grade}


def _skipped(line: SkippedLine) -> list[Any]:
    return [line.number, _storable(line.text), _storable(line.reason)]


def _storable(value: object, depth: int = 0) -> Any:
    """As any database takes it: PostgreSQL has no NUL, no lone surrogate and no infinity in JSON."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    if depth < MAX_CAPTURE_DEPTH and isinstance(value, Mapping):
        return {_storable(str(key)): _storable(below, depth + 1) for key, below in value.items()}
    if depth < MAX_CAPTURE_DEPTH and isinstance(value, list | tuple):
        return [_storable(below, depth + 1) for below in value]
    return _storable(str(value)[:200])
