"""Lists of runs: filters of a query string to one indexed page, newest first, and the dashboard's key numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone

from webapp.runs.models import ACTIVE, Run, RunLabel, RunQuerySet, State

PAGE_SIZE = 50
MAX_PAGE_SIZE = 200
CHOICES_FROM = 500  # the newest runs name what the filter menus offer: a list that old names can't flood

EXACT_FILTERS = {"service": "service", "host": "host_name", "collector": "collector", "deploy": "deploy"}
"""Query parameter by its column; each has an index beside (created_at, id)."""


class BadFilter(ValueError):
    """A filter or cursor that can't be read; its text is shown to the person."""


@dataclass(frozen=True, slots=True)
class RunFilters:
    """What the dashboard's filter form and the API take. Empty means any."""

    service: str = ""
    host: str = ""
    collector: str = ""
    deploy: str = ""
    state: str = ""  # a State, or "active"
    labels: tuple[tuple[str, str], ...] = ()  # all must hold
    since: date | None = None  # days in UTC, both inclusive
    until: date | None = None
    text: str = ""  # part of title, service, deploy or run id

    @classmethod
    def from_query(cls, query: QueryDict) -> RunFilters:
        """Read `service= host= collector= deploy= state= label=k:v… since= until= text=`; BadFilter says why not."""
        return cls(
            service=query.get("service", "").strip(),
            host=query.get("host", "").strip(),
            collector=query.get("collector", "").strip(),
            deploy=query.get("deploy", "").strip(),
            state=_state(query.get("state", "")),
            labels=tuple(parse_label(text) for text in query.getlist("label") if text.strip()),
            since=_day("since", query.get("since", "")),
            until=_day("until", query.get("until", "")),
            text=query.get("text", "").strip(),
        )

    @property
    def is_any(self) -> bool:
        return self == RunFilters()

    def applied_to(self, runs: RunQuerySet) -> RunQuerySet:
        """Narrow the runs of one project."""
        exact = {column: getattr(self, name) for name, column in EXACT_FILTERS.items()}
        runs = runs.filter(**{column: value for column, value in exact.items() if value})
        if self.state:
            runs = runs.filter(state__in=ACTIVE) if self.state == "active" else runs.filter(state=self.state)
        if self.since:
            runs = runs.filter(created_at__gte=_midnight(self.since))
        if self.until:
            runs = runs.filter(created_at__lt=_midnight(self.until) + timedelta(days=1))
        for key, value in self.labels:
            runs = runs.filter(pk__in=RunLabel.objects.filter(key=key, value=value).values("run"))
        return runs.filter(_text_condition(self.text)) if self.text else runs


@dataclass(frozen=True, slots=True)
class RunPage:
    """Runs, newest first, and the cursor of the page after it, empty on the last."""

    runs: Sequence[Run]
    next_cursor: str


def page_of(runs: RunQuerySet, filters: RunFilters, *, cursor: str = "", size: int = PAGE_SIZE) -> RunPage:
    """One page in one query: it starts after the cursor's run, so page 2,000 costs what page 1 does.

    `runs` is what the viewer may see of one project: `Run.objects.visible_to(user).filter(project=project)`.
    """
    size = max(1, min(size, MAX_PAGE_SIZE))
    found = filters.applied_to(runs).order_by("-created_at", "-id")
    if cursor:
        created_at, pk = _parse_cursor(cursor)
        # Not "a < t or (a = t and id < i)": an OR of ranges would keep SQLite from seeking in the index.
        found = found.filter(created_at__lte=created_at).exclude(created_at=created_at, id__gte=pk)
    rows = list(found.select_related("created_by")[: size + 1])
    return RunPage(rows[:size], _cursor(rows[size - 1]) if len(rows) > size else "")


@dataclass(frozen=True, slots=True)
class KeyNumbers:
    """The dashboard's figures: three counts over short index ranges, and the newest run."""

    today: int
    active: int
    failed_last_7_days: int
    newest: Run | None


def key_numbers(runs: RunQuerySet) -> KeyNumbers:
    """Four short queries on the runs that the viewer may see of one project. Today is a day in UTC."""
    now = timezone.now()
    return KeyNumbers(
        today=runs.filter(created_at__gte=_midnight(now.date())).count(),
        active=runs.filter(state__in=ACTIVE).count(),
        failed_last_7_days=runs.filter(state=State.FAILED, created_at__gte=now - timedelta(days=7)).count(),
        newest=runs.order_by("-created_at", "-id").first(),
    )


def filter_choices(runs: RunQuerySet) -> dict[str, list[str]]:
    """What the filter menus offer, by filter name, sorted: the words of the newest CHOICES_FROM runs, in one query."""
    rows = list(runs.order_by("-created_at", "-id").values(*EXACT_FILTERS.values())[:CHOICES_FROM])
    return {name: sorted({row[column] for row in rows} - {""}) for name, column in EXACT_FILTERS.items()}


def parse_label(text: str) -> tuple[str, str]:
    """`key:value` or `key=value`; BadFilter if it is neither."""
    match = _LABEL.fullmatch(text.strip())
    if match is None:
        raise BadFilter(f"label is {text[:80]!r}, it must be key:value")
    return match["key"].strip(), match["value"].strip()


_LABEL = re.compile(r"(?P<key>[^:=]*[^:=\s][^:=]*)[:=](?P<value>.*\S.*)")


def _state(text: str) -> str:
    text = text.strip()
    if text and text != "active" and text not in State.values:
        raise BadFilter(f"state is {text!r}, there is active, {', '.join(State.values)}")
    return text


def _day(name: str, text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()) if text.strip() else None
    except ValueError:
        raise BadFilter(f"{name} is {text!r}, it must be a day such as 2026-11-29") from None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)


def _text_condition(text: str) -> Q:
    condition = Q()
    for column in ("title", "service", "deploy", "run_id"):
        condition |= Q(**{f"{column}__icontains": text})
    return condition


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def _cursor(run: Run) -> str:
    return f"{(run.created_at - _EPOCH) // _MICROSECOND}-{run.pk}"


def _parse_cursor(text: str) -> tuple[datetime, int]:
    microseconds, _, pk = text.partition("-")
    try:
        return _EPOCH + int(microseconds) * _MICROSECOND, int(pk)
    except (ValueError, OverflowError):
        raise BadFilter(f"cursor is {text[:40]!r}, it must be one that an earlier page gave") from None
