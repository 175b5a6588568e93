"""The run page as it is without script: which snapshot and value type the address asks for, and their functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

from tracer.profile.amounts import short_count
from webapp.flamegraph.quality import Quality, capture_quality
from webapp.runs.functions import TOP, arranged
from webapp.runs.models import Run, Snapshot
from webapp.runs.runview import snapshot_title, value_types_view
from webapp.runs.templatetags.numbers import duration

MOST_LINKS = 60  # to snapshots; the chosen one's neighbours are always among them
SORTS = {"-self": 1, "-total": 2}  # column of a stored row
NOTHING_HAPPENED = "Nothing that is counted here happened while it was traced."
_SEQ = re.compile(r"[1-9][0-9]{0,5}")


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows first, with script or without. `gone` says what of the address is not there."""

    snapshot: Snapshot
    value_type: dict[str, Any]
    sort: str = "-self"
    gone: list[str] = field(default_factory=list)

    def address(self, **over: object) -> str:
        state = {"t": self.value_type["name"], "s": self.snapshot.seq, "sort": self.sort} | over
        if state["sort"] == "-self":
            del state["sort"]
        return "?" + urlencode(state, quote_via=quote)


def shown(snapshots: list[Snapshot], asked: Mapping[str, str], *, default_seq: int = 0) -> Shown | None:
    """What frontend/js/run-page.js chooses of the same address; None while there is nothing to draw.

    Without `default_seq` the last snapshot is shown by default.
    """
    drawable = [snapshot for snapshot in snapshots if snapshot.revision and snapshot.value_types]
    if not drawable:
        return None
    types = value_types_view(drawable[-1])
    value_type = next((known for known in types if known["name"] == asked.get("t")), types[0])
    having = [snapshot for snapshot in drawable if snapshot.total_of(value_type["name"]) is not None]
    default = next((snapshot for snapshot in having if snapshot.seq == default_seq), having[-1])
    snapshot = next((snapshot for snapshot in having if str(snapshot.seq) == asked.get("s")), default)
    sort = asked.get("sort", "")
    return Shown(
        snapshot, value_type, sort if sort in SORTS else "-self", _gone(asked, snapshot, value_type, default_seq)
    )


def _gone(asked: Mapping[str, str], snapshot: Snapshot, value_type: dict[str, Any], default_seq: int) -> list[str]:
    name, seq, words = asked.get("t", ""), asked.get("s", ""), []
    if name and name != value_type["name"]:
        words.append(f"The value type {name} of the link is not in this run; {value_type['name']} is shown.")
    if _SEQ.fullmatch(seq) and int(seq) != snapshot.seq:
        default = f"snapshot {default_seq}" if default_seq else "the newest"
        words.append(f"Snapshot {seq} of the link is not in this run; {default} is shown.")
    return words


def unit_of(value_type: Mapping[str, Any]) -> str:
    """None where a tool gave no other than the name, which stands above the table."""
    return "" if value_type["unit"] == value_type["name"] else str(value_type["unit"])


def title_of(name: str) -> str:
    """`Outstanding bytes` of outstanding_bytes."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def page(run: Run, snapshots: list[Snapshot], view: Shown, stored: dict[str, Any]) -> dict[str, Any]:
    """For the templates; `stored` is the payload's table, empty if its snapshot was read by an older site."""
    return {
        "meaning": view.value_type["meaning"],
        "moment": _moment(run, view),
        "gone": " ".join(view.gone),
        "thinned": view.snapshot.capture.get("thinned", ""),
        "types": [_type_link(view, row) for row in view.snapshot.value_types],
        "snapshots": _snapshot_links(view, snapshots),
        "quality": _quality(view.snapshot),
        "table": _table(view, stored) if stored else None,
    }


def _quality(snapshot: Snapshot) -> Quality:
    unit = unit_of(snapshot.value_types[0])
    return capture_quality(snapshot.capture, skipped_lines=snapshot.skipped_lines, unit=unit)


def _moment(run: Run, view: Shown) -> str:
    if run.is_pushed and run.started_at:
        return f", pushed at {run.started_at + timedelta(seconds=view.snapshot.elapsed_s):%H:%M:%S} UTC"
    if not run.duration_s:
        return f", {view.snapshot.label}" if view.snapshot.label else ""
    until = f"{duration(view.snapshot.elapsed_s)} of {duration(run.duration_s)}"
    is_level = view.value_type["kind"] == "level"
    return f", at {until}" if is_level else f", since the run began, until {until}"


def _type_link(view: Shown, row: dict[str, Any]) -> dict[str, Any]:
    name = row["name"]
    is_chosen = name == view.value_type["name"]
    address = view.address(t=name)
    return {"title": title_of(name), "total": row["total"], "unit": unit_of(row), "href": address, "on": is_chosen}


def _snapshot_links(view: Shown, snapshots: list[Snapshot]) -> list[dict[str, Any]]:
    """None for one; of many some, from the first to the last, so that any other is a few links away."""
    having = [each for each in snapshots if each.total_of(view.value_type["name"]) is not None]
    if len(having) < 2:
        return []
    chosen, last, step = having.index(view.snapshot), len(having) - 1, -(-len(having) // MOST_LINKS)
    picked = {*range(0, last, step), chosen - 1, chosen, chosen + 1, last} & set(range(len(having)))
    return [
        {
            "title": snapshot_title(having[i]),
            "href": view.address(s=having[i].seq),
            "on": i == chosen,
        }
        for i in sorted(picked)
    ]


def _table(view: Shown, stored: dict[str, Any]) -> dict[str, Any]:
    rows = arranged(stored["rows"], by=SORTS[view.sort])[:TOP]
    return {
        "unit": unit_of(view.value_type),
        "rows": [_row(name, own, total, stored["all"]) for name, own, total in rows],
        "heads": [_head(view, "Self", "-self"), _head(view, "Total", "-total")],
        "words": f"{_range(len(rows), stored['count'])} Recursion is counted once." if rows else NOTHING_HAPPENED,
    }


def _range(shown: int, count: int) -> str:
    return f"1–{short_count(shown)} of {short_count(count)} functions."


def _row(name: str, own: float, total: float, whole: float) -> dict[str, Any]:
    own_share, total_share = (part / whole if whole else 0 for part in (own, total))
    bar = f"{min(1, abs(own_share)) * 100:.4g}%"
    return {"name": name, "self": own, "self_share": own_share, "bar": bar, "total": total, "total_share": total_share}


def _head(view: Shown, title: str, sort: str) -> dict[str, Any]:
    return {"title": title, "href": view.address(sort=sort), "on": view.sort == sort}
