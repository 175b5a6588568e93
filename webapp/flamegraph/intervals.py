"""Two snapshots of a run to what a flow was in between: made of their trees once, kept while it is used."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np

from tracer.profile import tree
from tracer.profile.tree import CallTree, payload
from webapp.flamegraph.cached import forget_unused, kept_fields, note_use
from webapp.flamegraph.exports import load_tree
from webapp.flamegraph.models import IntervalPayload
from webapp.runs import functions
from webapp.runs.models import Run, Snapshot, SnapshotQuerySet
from webapp.runs.runview import snapshot_title

FOLDER = "intervals"
KEPT = 500  # intervals; the largest take about 4 MB each
MOST_ADDED = 240  # pushes: an hour of one every 15 s, each of whose trees is read

# Two trees of 4 M nodes take about 1 GB for 3 s: one at a time in a process.
_making = threading.Lock()


class NoSuchInterval(LookupError):
    """The run has no such snapshots, or not in that order; the text is for people."""


class NotAnInterval(ValueError):
    """The snapshots are there, and have no value of the time between them; the text is for people."""


@dataclass(frozen=True, slots=True)
class Interval:
    """After one snapshot of a run, until another."""

    run: Run
    since: Snapshot
    until: Snapshot

    def value_type(self, name: str) -> dict[str, Any]:
        """Its row in the later snapshot's value types."""
        rows: dict[str, dict[str, Any]] = {row["name"]: row for row in self.until.value_types}
        return rows[name]

    def flows(self) -> list[str]:
        """Value types that both snapshots have and that may be told of an interval."""
        earlier = {row["name"] for row in self.since.value_types}
        return [row["name"] for row in self.until.value_types if row["kind"] == "flow" and row["name"] in earlier]

    @property
    def first_flow(self) -> str:
        """Empty where there is none."""
        return next(iter(self.flows()), "")

    @property
    def seconds(self) -> float:
        return self.until.elapsed_s - self.since.elapsed_s

    @property
    def words(self) -> str:
        """`0:10 to 0:20`."""
        return f"{snapshot_title(self.since)} to {snapshot_title(self.until)}"

    @property
    def counts_itself(self) -> bool:
        """Each snapshot counts what happened since the one before: a service pushes so."""
        return "interval_s" in self.until.capture


def find_interval(run: Run, since: int, until: int) -> Interval:
    snapshots = {each.seq: each for each in run.snapshots.filter(seq__in=[since, until])}
    for seq in (since, until):
        if seq not in snapshots:
            raise NoSuchInterval(f"Run {run.run_id} has no snapshot {seq}.")
        if not snapshots[seq].revision:
            raise NoSuchInterval(f"Snapshot {seq} of run {run.run_id} was not read.")
    if since >= until:
        raise NoSuchInterval(f"An interval begins before it ends: {since} does not come before {until}.")
    found = Interval(run, snapshots[since], snapshots[until])
    if found.counts_itself and (count := _within(found).count()) > MOST_ADDED:
        raise NoSuchInterval(f"The interval has {count:,} snapshots, at most {MOST_ADDED} are added up.")
    _refuse_thinned(found)
    return found


def _refuse_thinned(interval: Interval) -> None:
    """A pruned tree counts paths in their callers: less another tree, they would seem to have shrunk or grown."""
    needed = _within(interval) if interval.counts_itself else (interval.since, interval.until)
    if thinned := next((each for each in needed if not each.has_whole_tree), None):
        words = f"Snapshot {thinned.seq} of run {interval.run.run_id} was thinned out"
        raise NoSuchInterval(f"{words}: an interval needs the whole tree of each snapshot in it.")


def check_flow(interval: Interval, value_type: str) -> None:
    flows = interval.flows()
    if value_type in flows:
        return
    there = f"Flows of this run are {', '.join(flows)}." if flows else "This run has no flow."
    raise NotAnInterval(f"{value_type} is a level or not in both snapshots: nothing of it happened in between. {there}")


def interval_tree(interval: Interval, value_type: str) -> CallTree:
    """Of that one value type."""
    check_flow(interval, value_type)
    if interval.counts_itself:
        return tree.together(map(load_tree, _within(interval)), value_type)
    return tree.interval(load_tree(interval.since), load_tree(interval.until), value_type)


def interval_total(interval: Interval, value_type: str) -> float | int | None:
    """That of its tree, without reading it."""
    if interval.counts_itself:
        return sum(each.total_of(value_type) or 0 for each in _within(interval))
    totals = interval.since.total_of(value_type), interval.until.total_of(value_type)
    return None if totals[0] is None or totals[1] is None else totals[1] - totals[0]


def _within(interval: Interval) -> SnapshotQuerySet:
    snapshots = Snapshot.objects.filter(run=interval.run, revision__gt=0)
    return snapshots.filter(seq__gt=interval.since.seq, seq__lte=interval.until.seq).order_by("seq")


def interval_payload(interval: Interval, value_type: str) -> IntervalPayload:
    check_flow(interval, value_type)
    found = known_interval(interval, value_type)
    if found is not None:
        return found
    with _making:
        return known_interval(interval, value_type) or _make(interval, value_type)


def known_interval(interval: Interval, value_type: str) -> IntervalPayload | None:
    """What was made before, if it is still whole."""
    row = IntervalPayload.objects.filter(**_key(interval, value_type)).defer("overview").first()
    if row is not None and not row.is_whole:
        row.delete()
        return None
    if row is not None:
        note_use(row)
    return row


def _key(interval: Interval, value_type: str) -> dict[str, Any]:
    since, until = interval.since, interval.until
    return {
        "since": since,
        "until": until,
        "since_revision": since.revision,
        "until_revision": until.revision,
        "value_type": value_type,
    }


def _make(interval: Interval, value_type: str) -> IntervalPayload:
    made = interval_tree(interval, value_type)
    first = payload.encode(made, 0, overview=True)
    whole = first if first.is_full else payload.encode(made, 0, overview=False)
    is_signed = interval.value_type(value_type)["is_signed"]
    fields = {
        **kept_fields(first, whole, f"{FOLDER}/{interval.since.pk}-{interval.until.pk}"),
        "nodes": len(made),
        "total": made.total(0),
        "is_signed": made.value_types[0].is_signed,
        "negative": [] if is_signed else _negative(made),
        "functions": functions.tables(made)[0],
    }
    row, _ = IntervalPayload.objects.get_or_create(**_key(interval, value_type), defaults=fields)
    forget_unused(IntervalPayload, FOLDER, KEPT)
    return row


def _negative(made: CallTree) -> list[Any]:
    """How many frames are below zero, and how much."""
    below = made.selfs[0][made.selfs[0] < 0]
    return [int(np.count_nonzero(below)), below.sum().item()] if len(below) else []


def interval_view(interval: Interval, value_type: str) -> dict[str, Any]:
    """For the run page and scripts."""
    row = interval_payload(interval, value_type)
    run_id, since, until = interval.run.run_id, interval.since, interval.until
    return {
        "run": run_id,
        "since": {"seq": since.seq, "elapsed_s": since.elapsed_s, "label": since.label},
        "until": {"seq": until.seq, "elapsed_s": until.elapsed_s, "label": until.label},
        "value_type": value_type,
        "total": row.total,
        "is_signed": row.is_signed,
        "negative": row.negative,
        "nodes": row.nodes,
        "tag": row.tag,
        "overview_is_full": row.overview_is_full,
        "payload_url": interval_url(run_id, since.seq, until.seq),
        "url": f"/runs/{run_id}?{urlencode({'t': value_type, 'from': since.seq, 's': until.seq}, quote_via=quote)}",
    }


def interval_url(run_id: str, since: int, until: int) -> str:
    """With `{value_type}`, `{tag}` and `{stage}` to be filled in."""
    return f"/runs/{run_id}/interval/{since}/{until}/{{value_type}}/{{tag}}/{{stage}}"
