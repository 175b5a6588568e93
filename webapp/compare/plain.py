"""The compare page as it is without script: both sides, the finding in one sentence, and the table of changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from tracer.profile.alignment import RULES, Alignment
from tracer.profile.amounts import NOTHING, change, of_own, percent, plural, short_count, value, whole_percent
from tracer.profile.grade import grade
from webapp.compare.alignment import EXACT
from webapp.compare.models import DiffPayload
from webapp.compare.sides import Side, common_value_types
from webapp.compare.warnings import warnings
from webapp.flamegraph.plain import title_of, unit_of
from webapp.flamegraph.quality import WORDS as GRADE_WORDS
from webapp.runs.runview import snapshot_title
from webapp.runs.templatetags.numbers import duration

NOTE = "Totals include what a function called, so rows overlap and do not add up."
Piece = tuple[str, str]  # text, and "code", "grew", "shrank" or nothing


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address says is to be shown; without `rules` the names are as the project aligns them."""

    value_type: str
    rules: str = ""

    def page(self, **over: str) -> str:
        """Of the page with its table, merged if it was not yet."""
        return self._query({"t": self.value_type, "rules": self.rules, **over, "plain": "1"})

    def file(self) -> str:
        return self._query({"value_type": self.value_type, "rules": self.rules})

    def _query(self, fields: dict[str, str]) -> str:
        return "?" + urlencode({key: text for key, text in fields.items() if text}, quote_via=quote)


def page(before: Side, after: Side, asked: Asked, alignment: Alignment, diff: DiffPayload) -> dict[str, Any]:
    name = asked.value_type
    value_type = before.value_type(name)
    unit, table = unit_of(value_type), diff.table
    old, new = table["totals"]
    return {
        "title": title(before, after),
        "before": _side(before, old, unit),
        "after": _side(after, new, unit),
        "change": _change(new - old, unit, "none"),
        "change_share": "" if old == new else of_own(old, new),
        "moved": f"{value(table['moved'][0], unit)} grew, {value(table['moved'][1], unit)} shrank",
        "finding": finding(table, unit),
        "warnings": warnings(before, after, name, diff),
        "captures": captures(before, after),
        "meaning": value_type["meaning"],
        "types": [
            _link(title_of(each), asked.page(t=each), each == name) for each in common_value_types(before, after)
        ],
        "rules": [_rule_link(asked, alignment, rule) for rule in RULES],
        "aligned": f"by {alignment.words}" if alignment else "by exact names",
        "table": {
            "rows": [_row(row, table["largest"], old, unit) for row in table["rows"]],
            "words": _words(len(table["rows"]), table["count"]),
        },
    }


def title(before: Side, after: Side) -> str:
    deploys = before.run.deploy, after.run.deploy
    if all(deploys) and deploys[0] != deploys[1]:
        return f"{deploys[0]} against {deploys[1]}"
    if before.run == after.run:
        return f"{before.run.run_id}, {_title(before)} against {_title(after)}"
    return f"{before.run.run_id} against {after.run.run_id}"


def _title(side: Side) -> str:
    return side.moment or snapshot_title(side.snapshot)


def finding(table: dict[str, Any], unit: str) -> list[Piece]:
    """The sentence of frontend/js/diff.js, in the same pieces."""
    old, new = table["totals"]
    name, moved = table["first"] or ("", 0)
    if moved == 0:
        return [(f"Nothing changed: both sides hold {value(old, unit)}.", "")]
    is_growth, net = moved > 0, new - old
    share = f", {whole_percent(moved / net)} of the {'growth' if is_growth else 'decrease'}" if net * moved > 0 else ""
    paths = ", ".join(_paths(table, unit))
    return [
        (name, "code"),
        (" holds ", ""),
        (value(abs(moved), unit), "grew" if is_growth else "shrank"),
        (f" {'more' if is_growth else 'less'} than before{share}{'; ' if paths else ''}{paths}.", ""),
    ]


def _paths(table: dict[str, Any], unit: str) -> Iterator[str]:
    (fresh, added), (gone, removed) = table["new"], table["gone"]
    if fresh:
        yield f"{plural(fresh, 'path is', 'paths are')} new ({change(added, unit)})"
    if gone:
        words = f"{gone} {'is' if gone == 1 else 'are'}" if fresh else plural(gone, "path is", "paths are")
        yield f"{words} gone ({change(removed, unit)})"


def captures(before: Side, after: Side) -> str:
    """The grades of both: `Both captures A, complete`."""
    grades = [grade(side.snapshot.capture, skipped_lines=side.snapshot.skipped_lines).grade for side in (before, after)]
    words = list(dict.fromkeys(GRADE_WORDS[found] for found in grades))
    return f"Captures {' and '.join(words)}" if len(words) > 1 else f"Both captures {words[0]}"


def _side(side: Side, total: float, unit: str) -> dict[str, str]:
    run, at = side.run, side.run.started_at
    started = f"{at.day} {at:%b} {at:%H:%M}" if at else ""
    return {
        "total": value(total, unit),
        "deploy": run.deploy,
        "facts": ", " + ", ".join(filter(None, [started, run.service or run.title, run.host_name])),
        "moment": _moment(side),
        "run": run.run_id,
    }


def _link(title: str, href: str, is_chosen: bool) -> dict[str, Any]:
    return {"title": title, "href": href, "on": is_chosen, "total": None}


def _rule_link(asked: Asked, alignment: Alignment, rule: str) -> dict[str, Any]:
    """To the page with this rule more, or less where it holds."""
    other = alignment.toggled(rule)
    return _link(RULES[rule].title, asked.page(rules=other.text or EXACT), rule in alignment.rules)


def _row(row: list[Any], largest: float, total: float, unit: str) -> dict[str, Any]:
    name, old, new, moved, _, total_moved = row
    half = min(1, abs(moved) / largest) * 50 if largest else 0
    return {
        "name": name,
        "bar": {
            "class": "down" if moved < 0 else "up",
            "x": f"{50 - half if moved < 0 else 50:.4g}%",
            "width": f"{half:.4g}%",
        },
        "before": value(old, unit) if old else NOTHING,
        "after": value(new, unit) if new else NOTHING,
        "change": _change(moved, unit, NOTHING),
        "of_own": of_own(old, new),
        "of_all": f"{'+' if moved > 0 else ''}{percent(moved / total)}" if moved and total else NOTHING,
        "total_change": _change(total_moved, unit, NOTHING),
    }


def _change(moved: float, unit: str, none: str) -> dict[str, str]:
    look = "grew" if moved > 0 else "shrank" if moved < 0 else "quiet"
    return {"text": change(moved, unit) if moved else none, "class": look}


def _words(shown: int, count: int) -> str:
    if not count:
        return ""
    if shown < count:
        return f"The {shown} that changed most, of {short_count(count)} functions. {NOTE}"
    return f"1–{short_count(shown)} of {short_count(count)} functions. {NOTE}"


def _moment(side: Side) -> str:
    if side.moment:
        return f", {side.moment}"
    return f", at {duration(side.snapshot.elapsed_s)}" if side.snapshot.elapsed_s else ""
