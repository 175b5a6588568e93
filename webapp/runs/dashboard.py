"""What the dashboard shows of its filters: the menus, the active ones as removable chips, the links to other pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from tracer import protocol
from webapp.runs.listing import EXACT_FILTERS
from webapp.runs.models import State

LABELS = {"service": "Service", "host": "Host", "collector": "Collector", "deploy": "Deploy", "state": "State"}
ONE_VALUE = (*EXACT_FILTERS, "state", "since", "until", "text")
CHIP_NAMES = {"since": "from", "until": "to", "text": "contains"}


@dataclass(frozen=True, slots=True)
class Menu:
    name: str
    label: str
    choices: Sequence[str]
    chosen: str


@dataclass(frozen=True, slots=True)
class Chip:
    """An active filter, and the query string without it."""

    name: str
    text: str
    without: str


def menus(query: QueryDict, choices: Mapping[str, Sequence[str]]) -> list[Menu]:
    """One per column; what is chosen is offered even when no recent run has it."""
    offered = {**choices, "state": ["active", *State.values]}
    offered["collector"] = sorted({*choices["collector"], *protocol.COLLECTORS})
    chosen = {name: query.get(name, "").strip() for name in LABELS}
    return [Menu(name, label, _with(offered[name], chosen[name]), chosen[name]) for name, label in LABELS.items()]


def chips(query: QueryDict) -> list[Chip]:
    shown = [
        Chip(CHIP_NAMES.get(name, name), query.get(name, "").strip(), _without(query, name))
        for name in ONE_VALUE
        if query.get(name, "").strip()
    ]
    labels = [label for label in query.getlist("label") if label.strip()]
    return shown + [Chip("label", label, _without(query, "label", label)) for label in labels]


def at_cursor(query: QueryDict, cursor: str) -> str:
    """The same filters, from that cursor on; the newest runs without one."""
    other = query.copy()
    other.pop("cursor", None)
    if cursor:
        other["cursor"] = cursor
    return other.urlencode()


def _with(choices: Sequence[str], chosen: str) -> list[str]:
    return [*choices] if not chosen or chosen in choices else [chosen, *choices]


def _without(query: QueryDict, name: str, value: str | None = None) -> str:
    other = query.copy()
    rest = [kept for kept in other.getlist(name) if value is not None and kept != value]
    other.setlist(name, rest)
    other.pop("cursor", None)
    return other.urlencode()
