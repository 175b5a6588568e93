"""The New-run page for a host without bcc, or where perf is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.test import Client

from tests.webapp.pages.new_run import NEW_RUN, checked_in, filled_in
from tracer.protocol import COLLECTORS
from webapp.hosts.models import Host
from webapp.runs.models import Run
from webapp.teams.models import User


def _without_bcc(host: Host, *, why_not_by_perf: str = "") -> None:
    host.facts |= {
        "collectors": dict.fromkeys(COLLECTORS, "bcc is missing"),
        "perf": dict.fromkeys(COLLECTORS, "") | {"brk": why_not_by_perf},
    }
    host.save()


def test_a_host_without_bcc_offers_perf_and_says_what_it_can_not_see(
    story: Any, live_host: Host, get: Callable[..., Any]
) -> None:
    _without_bcc(live_host, why_not_by_perf="no tracefs")

    page = get(story.bob, NEW_RUN)

    assert "by perf: Calls and the bytes they ask for, not what is given back" in page.text
    assert "not by bcc: bcc is missing" in page.text
    assert "malloc" in checked_in(page)
    assert "disabled" in page.one("input", id="c-brk").attributes


def test_a_run_on_a_host_without_bcc_is_recorded_by_perf(
    story: Any, live_host: Host, as_user: Callable[[User], Client]
) -> None:
    _without_bcc(live_host)

    as_user(story.bob).post(NEW_RUN, filled_in(live_host))

    assert Run.objects.get().spec["options"] == {"source": "perf"}


def test_perf_can_be_asked_for_where_there_is_bcc(
    story: Any, live_host: Host, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    refused = as_user(story.bob).post(NEW_RUN, filled_in(live_host, source="perf"))
    live_host.facts |= {"perf": dict.fromkeys(COLLECTORS, "")}
    live_host.save()
    as_user(story.bob).post(NEW_RUN, filled_in(live_host, source="perf"))

    assert "web-1 can’t do this by perf: its agent has said nothing of perf" in page_of(refused).text
    assert Run.objects.get().spec["options"] == {"source": "perf"}


def test_options_of_blocks_are_refused_by_perf(
    story: Any, live_host: Host, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    _without_bcc(live_host)

    refused = as_user(story.bob).post(NEW_RUN, filled_in(live_host, older_than="30s"))

    assert "but perf follows no blocks" in page_of(refused).text
    assert not Run.objects.exists()
