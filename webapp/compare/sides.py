"""What a comparison's address names: `r-…` is a run's snapshot shown by default, mostly the last, `r-…@3` its third,
`r-…@3..7` what its flows were after the third, until the seventh."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tracer import protocol
from tracer.profile.comparable import Counted, why_not
from tracer.profile.tree import CallTree
from webapp.flamegraph.exports import load_tree
from webapp.flamegraph.intervals import Interval, NoSuchInterval, find_interval, interval_total, interval_tree
from webapp.runs.facts import shown_of
from webapp.runs.models import Run, Snapshot
from webapp.runs.runview import collector_title
from webapp.teams.models import Viewer


class NoSuchSide(LookupError):
    """There is no such run or snapshot that the viewer may see; the text is for people."""


class NothingToCompare(Exception):
    """The run is there, but no snapshot of it has been read; the text is for people."""


_SEQ = re.compile("(?:([0-9]{1,9})[.][.])?([0-9]{1,9})")


def taken_at(run: Run) -> datetime:
    return run.started_at or run.created_at


@dataclass(frozen=True, slots=True)
class Side:
    """One side: a snapshot that was read, and its run; or an interval, which ends with that snapshot."""

    run: Run
    snapshot: Snapshot
    interval: Interval | None = None

    @property
    def name(self) -> str:
        """As in an address, with the snapshot said: what it names never changes."""
        since = f"{self.interval.since.seq}.." if self.interval else ""
        return f"{self.run.run_id}@{since}{self.snapshot.seq}"

    @property
    def since(self) -> str:
        """Where an interval begins, and in which revision; empty of a snapshot."""
        return f"{self.interval.since.seq}-{self.interval.since.revision}" if self.interval else ""

    @property
    def moment(self) -> str:
        """What its file calls it; of an interval, from when to when."""
        return self.interval.words if self.interval else self.snapshot.label

    @property
    def covers_s(self) -> float:
        """Seconds that flows were counted for, 0 if not known: a service may push those of the last interval only."""
        if self.interval:
            return self.interval.seconds
        interval_s = self.snapshot.capture.get("interval_s")
        return interval_s if isinstance(interval_s, int | float) and interval_s > 0 else self.snapshot.elapsed_s

    def value_types(self) -> list[str]:
        return self.interval.flows() if self.interval else [row["name"] for row in self.snapshot.value_types]

    def tree(self, value_type: str) -> CallTree:
        """With that value type at least."""
        return interval_tree(self.interval, value_type) if self.interval else load_tree(self.snapshot)

    def total(self, value_type: str) -> float | int | None:
        if self.interval:
            return interval_total(self.interval, value_type)
        return self.snapshot.total_of(value_type)

    def value_type(self, name: str) -> dict[str, Any]:
        """Its row in the snapshot's value types; KeyError if there is none."""
        rows: dict[str, dict[str, Any]] = {row["name"]: row for row in self.snapshot.value_types}
        return rows[name]

    def counted(self, name: str) -> Counted:
        row = self.value_type(name)
        return Counted(name, row["unit"], row["kind"], self.snapshot.capture)

    def view(self, value_type: str) -> dict[str, Any]:
        run, snapshot = self.run, self.snapshot
        return {
            "run": run.run_id,
            "seq": snapshot.seq,
            "since": self.interval.since.seq if self.interval else None,
            "url": f"/runs/{run.run_id}",
            "title": run.title,
            "service": run.service,
            "deploy": run.deploy,
            "labels": run.labels,
            "collector": run.collector,
            "collector_title": collector_title(run.collector),
            "host": run.host_name,
            "command": run.command,
            "created_at": run.created_at,
            "started_at": run.started_at,
            "elapsed_s": snapshot.elapsed_s,
            "covers_s": self.covers_s,
            "label": self.moment,
            "snapshots": run.snapshot_count,
            "total": self.total(value_type),
            "skipped_lines": snapshot.skipped_lines,
            "capture": snapshot.capture,
        }


def find_side(viewer: Viewer, name: str) -> Side:
    """The side that an address names, if the viewer may see its run."""
    run_id, sign, place = name.partition("@")
    run = (
        Run.objects.visible_to(viewer)
        .select_related("project__team", "project__alignment", "host")
        .filter(run_id=run_id)
        .first()
    )
    asked = _SEQ.fullmatch(place)
    if run is None or (sign and not asked):
        raise NoSuchSide(f"There is no run {name!r} that you may see.")
    if asked and asked[1]:
        return _interval_side(run, int(asked[1]), int(asked[2]))
    snapshot = run.snapshots.filter(seq=asked[2]).first() if asked else shown_of(run)
    if snapshot is None and sign:
        raise NoSuchSide(f"Run {run_id} has no snapshot {place}.")
    if snapshot is None or not snapshot.revision:
        raise NothingToCompare(_why_not(run, snapshot))
    return Side(run, snapshot)


def _interval_side(run: Run, since: int, until: int) -> Side:
    try:
        interval = find_interval(run, since, until)
    except NoSuchInterval as error:
        raise NoSuchSide(str(error)) from None
    return Side(run, interval.until, interval)


def _why_not(run: Run, snapshot: Snapshot | None) -> str:
    if snapshot is not None and snapshot.error:
        return f"Snapshot {snapshot.seq} of run {run.run_id} could not be read: {snapshot.error}."
    return f"Run {run.run_id} is {run.state} and has no snapshot to compare yet."


def common_value_types(before: Side, after: Side, *, is_scaled: bool = False) -> list[str]:
    """Names that both sides have and that may be compared, in the order of the first; as comparable.py has it."""
    return [name for name in _on_both(before, after) if not _refusal(before, after, name, is_scaled=is_scaled)]


def why_none(before: Side, after: Side) -> str:
    """Sides that have nothing to compare, in words."""
    first = next(iter(_on_both(before, after)), "")
    if first:
        return _refusal(before, after, first)
    return f"The sides have no value type in common: {names(before)} before, {names(after)} after."


def why_missing(before: Side, after: Side, name: str) -> str:
    """Why a value type is not among those that may be compared: the beginning of a sentence."""
    return f"{name} can't be compared" if name in _on_both(before, after) else f"{name} is not on both sides"


def refused(before: Side, after: Side) -> list[str]:
    """Why value types that both have are not compared."""
    reasons = [_refusal(before, after, name) for name in _on_both(before, after)]
    return [reason for reason in reasons if reason]


def _refusal(before: Side, after: Side, name: str, *, is_scaled: bool = False) -> str:
    return why_not(before.counted(name), after.counted(name), is_scaled=is_scaled)


def _on_both(before: Side, after: Side) -> list[str]:
    """Bands of age only if both have the same ones: where one begins, its name does not tell."""
    there = after.value_types()
    found = [name for name in before.value_types() if name in there]
    has_same_bands = _bands(before.value_types()) == _bands(there)
    return found if has_same_bands else [name for name in found if name not in _bands(found)]


def _bands(value_types: list[str]) -> list[str]:
    return [name for name in value_types if protocol.age_band_named(name)]


def names(side: Side) -> str:
    return ", ".join(side.value_types())
