"""The run page as it is without script: which snapshot and value type the address asks for, and their functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

from tracer.profile.amounts import plural, short_count, value
from webapp.flamegraph.quality import Quality, capture_quality
from webapp.runs.functions import TOP, arranged
from webapp.runs.models import Run, Snapshot
from webapp.runs.runview import snapshot_title, value_types_view
from webapp.runs.templatetags.numbers import duration

MOST_LINKS = 60  # to snapshots; the chosen one's neighbours are always among them
SORTS = {"-self": 1, "-total": 2}  # column of a stored row
NOTHING_HAPPENED = "Nothing that is counted here happened while it was traced."
SEQ = re.compile(r"[1-9][0-9]{0,5}")


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows first, with script or without. `gone` says what of the address is not there."""

    snapshot: Snapshot
    value_type: dict[str, Any]
    sort: str = "-self"
    gone: list[str] = field(default_factory=list)
    since: Snapshot | None = None  # of a flow: where an interval begins, which ends with the snapshot

    def address(self, **over: object) -> str:
        """Of an interval's table it says that nothing shows it but this page, so that it is made if it was not yet."""
        since = self.since.seq if self.since else 0
        state = {"t": self.value_type["name"], "s": self.snapshot.seq, "from": since, "sort": self.sort} | over
        if state["sort"] == "-self":
            del state["sort"]
        if state["from"]:
            state["plain"] = 1
        else:
            del state["from"]
        return "?" + urlencode(state, quote_via=quote)

    def file_query(self) -> str:
        """Of a download."""
        fields = {"value_type": self.value_type["name"]} | ({"from": self.since.seq} if self.since else {})
        return "?" + urlencode(fields, quote_via=quote)

    def without_interval(self, why: str) -> Shown:
        return replace(self, since=None, gone=[*self.gone, why])


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
    gone = _gone(asked, snapshot, value_type, default_seq)
    view = Shown(snapshot, value_type, sort if sort in SORTS else "-self", gone)
    return _with_interval(view, having, asked.get("from", ""))


def _with_interval(view: Shown, having: list[Snapshot], seq: str) -> Shown:
    """Only a flow has intervals; one that begins where it ends is none."""
    if view.value_type["kind"] != "flow" or not SEQ.fullmatch(seq):
        return view
    since = next((snapshot for snapshot in having if snapshot.seq == int(seq)), None)
    if since is None:
        gone = f"Snapshot {seq} of the link, where an interval begins, is not in this run;"
        return view.without_interval(f"{gone} all until its end is shown.")
    return replace(view, since=since) if since.seq < view.snapshot.seq else view


def _gone(asked: Mapping[str, str], snapshot: Snapshot, value_type: dict[str, Any], default_seq: int) -> list[str]:
    name, seq, words = asked.get("t", ""), asked.get("s", ""), []
    if name and name != value_type["name"]:
        words.append(f"The value type {name} of the link is not in this run; {value_type['name']} is shown.")
    if SEQ.fullmatch(seq) and int(seq) != snapshot.seq:
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


def page(
    run: Run, snapshots: list[Snapshot], view: Shown, stored: dict[str, Any], negative: Sequence[Any] = ()
) -> dict[str, Any]:
    """For the templates; `stored` is the payload's table, empty if its snapshot was read by an older site.

    `negative` has how many frames of an interval are below zero, and how much.
    """
    return {
        "meaning": view.value_type["meaning"],
        "moment": _moment(run, view),
        "gone": " ".join(view.gone),
        "leftover": _leftover(*negative, unit=unit_of(view.value_type)) if negative else "",
        "thinned": view.snapshot.capture.get("thinned", ""),
        "types": [_type_link(view, row) for row in view.snapshot.value_types],
        "snapshots": _snapshot_links(view, snapshots),
        "begins": _begin_links(view, snapshots),
        "quality": _quality(view.snapshot),
        "table": _table(view, stored) if stored else None,
    }


def _leftover(frames: int, amount: float, *, unit: str) -> str:
    """The words of frontend/js/interval.js."""
    return (
        f"{plural(frames, 'frame is', 'frames are')} below zero, {value(amount, unit)} in all: the later snapshot has "
        "less of them than the earlier, as estimates may. They are hatched, and the total is exact."
    )


def _quality(snapshot: Snapshot) -> Quality:
    unit = unit_of(snapshot.value_types[0])
    return capture_quality(snapshot.capture, skipped_lines=snapshot.skipped_lines, unit=unit)


def _moment(run: Run, view: Shown) -> str:
    if view.since:
        return f", {_moment_name(run, view.since)} to {_moment_name(run, view.snapshot)}"
    if run.is_pushed and run.started_at:
        return f", pushed at {_moment_name(run, view.snapshot)}"
    if not run.duration_s:
        return f", {view.snapshot.label}" if view.snapshot.label else ""
    until = f"{duration(view.snapshot.elapsed_s)} of {duration(run.duration_s)}"
    is_level = view.value_type["kind"] == "level"
    return f", at {until}" if is_level else f", since the run began, until {until}"


def _moment_name(run: Run, snapshot: Snapshot) -> str:
    if run.is_pushed and run.started_at:
        return f"{run.started_at + timedelta(seconds=snapshot.elapsed_s):%H:%M:%S} UTC"
    return snapshot_title(snapshot)


def _type_link(view: Shown, row: dict[str, Any]) -> dict[str, Any]:
    name = row["name"]
    is_chosen = name == view.value_type["name"]
    address = view.address(t=name)
    return {"title": title_of(name), "total": row["total"], "unit": unit_of(row), "href": address, "on": is_chosen}


def _snapshot_links(view: Shown, snapshots: list[Snapshot]) -> list[dict[str, Any]]:
    """None for one; of many some, from the first to the last, so that any other is a few links away."""
    having = _having(view, snapshots)
    if len(having) < 2:
        return []
    since = view.since.seq if view.since else 0
    return [
        _link(snapshot_title(each), view.address(s=each.seq, **{"from": since if since < each.seq else 0}), is_chosen)
        for each, is_chosen in _some(having, view.snapshot)
    ]


def _begin_links(view: Shown, snapshots: list[Snapshot]) -> list[dict[str, Any]]:
    """Where an interval of a flow may begin, so that it ends with the chosen snapshot."""
    earlier = [each for each in _having(view, snapshots) if each.seq < view.snapshot.seq]
    if view.value_type["kind"] != "flow" or not earlier:
        return []
    whole = "the one before" if "interval_s" in view.snapshot.capture else "the run began"
    links = [
        _link(snapshot_title(each), view.address(**{"from": each.seq}), is_chosen)
        for each, is_chosen in _some(earlier, view.since)
    ]
    return [_link(whole, view.address(**{"from": 0}), view.since is None), *links]


def _having(view: Shown, snapshots: list[Snapshot]) -> list[Snapshot]:
    return [each for each in snapshots if each.total_of(view.value_type["name"]) is not None]


def _some(having: list[Snapshot], chosen: Snapshot | None) -> list[tuple[Snapshot, bool]]:
    """The first, the last, those beside the chosen, and some in between; whether it is the chosen one."""
    last, step = len(having) - 1, -(-len(having) // MOST_LINKS)
    place = having.index(chosen) if chosen else last
    picked = {*range(0, last, step), place - 1, place, place + 1, last} & set(range(len(having)))
    return [(having[i], having[i] == chosen) for i in sorted(picked)]


def _link(title: str, href: str, is_chosen: bool) -> dict[str, Any]:
    return {"title": title, "href": href, "on": is_chosen, "total": None}


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
