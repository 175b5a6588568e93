"""A host that reports, runs for lists, and an HTML reader that knows what a page must not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from tracer.protocol import COLLECTORS
from webapp.hosts.models import Host
from webapp.runs.models import Run, State
from webapp.runs.states import add_labels
from webapp.teams.models import User

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\"'gnp"
PROCESSES = [
    {"pid": 4711, "start_time": 1234, "command": "search-api --port 80", "user": "www", "rss_bytes": 9 << 20},
    {"pid": 880, "start_time": 2, "command": "postgres: writer", "user": "postgres", "rss_bytes": 6 << 30},
    {"pid": 66, "start_time": 3, "command": HOSTILE, "user": "nobody", "rss_bytes": 4096},
]


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    text: str = ""
    inside: tuple[str, ...] = ()


@dataclass
class Page:
    """The elements of a page in order, and the text that a person reads."""

    elements: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str, **wanted: str) -> list[Element]:
        """Elements of that tag whose attributes have these values; `class_` is a part of the class list."""
        return list(self._matching(tag, wanted))

    def one(self, tag: str, **wanted: str) -> Element:
        found = self.all(tag, **wanted)
        assert len(found) == 1, f"{len(found)} times <{tag}> with {wanted}"
        return found[0]

    def _matching(self, tag: str, wanted: dict[str, str]) -> Iterator[Element]:
        for element in self.elements:
            classes = element.attributes.get("class", "").split()
            rest = {name.replace("_", "-"): value for name, value in wanted.items() if name != "class_"}
            is_match = element.tag == tag and rest.items() <= element.attributes.items()
            if is_match and wanted.get("class_", "") in ["", *classes]:
                yield element


class _Reader(HTMLParser):
    """Refuses what a browser would silently repair."""

    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"<{tag}> has an attribute twice: {attrs}"
        element = Element(tag, {name: value or "" for name, value in attrs}, inside=tuple(o.tag for o in self.open))
        self.page.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1].tag == tag, f"</{tag}> closes {[e.tag for e in self.open[-3:]]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.page.text += data
        for element in self.open:
            element.text += data


@pytest.fixture
def page_of() -> Callable[[HttpResponse], Page]:
    def read(response: HttpResponse) -> Page:
        reader = _Reader()
        reader.feed(response.content.decode())
        reader.close()
        assert not reader.open, f"left open: {[element.tag for element in reader.open]}"
        return reader.page

    return read


@pytest.fixture
def get(as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Page]) -> Callable[..., Page]:
    """A page as a user sees it."""

    def fetch(user: User, path: str, *, status: int = 200) -> Page:
        response = as_user(user).get(path)
        assert response.status_code == status
        return page_of(response)

    return fetch


@pytest.fixture
def live_host(story: Any) -> Host:
    """web-1 has reported just now: it can run all collectors but page_faults, and lists three processes."""
    collectors = dict.fromkeys(COLLECTORS, "") | {"page_faults": "the kernel lacks the tracepoint"}
    now = timezone.now()
    Host.objects.filter(pk=story.host.pk).update(
        last_seen_at=now,
        agent_version="0.1.0",
        facts={"kernel": "6.1.0-27-amd64", "distribution": "Debian 12", "collectors": collectors},
        processes=[row | {"started_at": (now - timedelta(days=2)).isoformat()} for row in PROCESSES],
        processes_at=now,
    )
    return Host.objects.get(pk=story.host.pk)


@pytest.fixture
def listed_run(story: Any) -> Callable[..., Run]:
    """A run for lists: rows only, without snapshots. `minutes` ago, ready unless told otherwise."""

    def make(*, minutes: float = 0, **facts: Any) -> Run:
        defaults: dict[str, Any] = {
            "project": story.search,
            "created_by": story.alice,
            "created_at": timezone.now() - timedelta(minutes=minutes),
            "collector": "malloc",
            "title": "search-api --port 80",
            "state": State.READY,
            "value_type": "outstanding_bytes",
            "unit": "bytes",
            "total": 941_621_248,
            "snapshot_count": 10,
        }
        run = Run.objects.create(**defaults | facts)
        add_labels(run)
        return run

    return make
