"""The price tag of the New-run page, with script and without."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from tracer.prices import RATES, Price
from tracer.prices import Estimate as Found
from webapp.hosts.models import Host
from webapp.runs import estimates
from webapp.runs.models import Estimate
from webapp.teams.models import User

NEW_RUN, ASK = "/p/search-api/record", "/p/search-api/estimates"
ATTEMPT = "attempt-0001"
HOSTILE = "<img src=x onerror=alert(1)>"
FOUND = Found(
    3.0, dict.fromkeys(RATES, 0.0) | {"malloc": 8412.4, "minor": 0.3}, 1120,
    (Price("malloc", "exact", 0.133, 12.0, 0.0, 125_566_976), Price("brk", "", 0.0002, None, 0.0, 4096, True)),
    (HOSTILE,),
)  # fmt: skip


def filled_in(host: Host, **changes: str) -> dict[str, str]:
    return {"host": host.host_id, "process": "4711-1234", "collector": "brk", "service": "search"} | changes


@pytest.fixture
def asked(story: Any, live_host: Host, as_user: Callable[[User], Client]) -> Estimate:
    as_user(story.bob).post(ASK, filled_in(live_host))
    return Estimate.objects.get()


@pytest.fixture
def ready(asked: Estimate) -> Estimate:
    assert estimates.claim(asked, ATTEMPT)
    assert estimates.finish(asked, ATTEMPT, FOUND, "")
    return asked


def test_without_script_the_page_comes_again_as_it_was_filled_in(
    story: Any, live_host: Host, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    client = as_user(story.bob)

    response = client.post(ASK, filled_in(live_host), follow=True)

    estimate = Estimate.objects.get()
    page = page_of(response)
    assert (estimate.pid, estimate.start_time, estimate.asked_by) == (4711, 1234, story.bob)
    assert f"estimate={estimate.estimate_id}" in response.redirect_chain[0][0]
    assert page.one("input", name="service").attributes["value"] == "search"
    assert "checked" in page.one("input", id="c-brk").attributes
    assert "web-1 counts what process 4711 does" in page.one("div", id="estimate").text


def test_with_script_only_its_part_of_the_page_comes(
    story: Any, live_host: Host, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    response = as_user(story.bob).post(ASK, filled_in(live_host), headers={"HX-Request": "true"})

    part = page_of(response).one("div", id="estimate")
    assert part.inside == ()
    assert part.attributes["hx-get"] == f"{ASK}/{Estimate.objects.get().estimate_id}"


def test_what_it_came_to_is_a_table_with_one_recommended(story: Any, ready: Estimate, get: Callable[..., Any]) -> None:
    part = get(story.vera, f"{ASK}/{ready.estimate_id}")

    text = " ".join(part.text.replace("\u00a0", " ").split())
    assert "hx-get" not in part.one("div", id="estimate").attributes
    assert "3 s of counting only, 8,412 allocations/s from 1,120 call sites, 0 frees/s, 0.3 page faults/s" in text
    assert "malloc, exact 13.3 % over × 10 119.8 MB" in text
    assert "brk recommended < 0.1 % – 4.0 kB Heaps that are mapped" in text


def test_notes_of_an_agent_are_text(story: Any, ready: Estimate, get: Callable[..., Any]) -> None:
    part = get(story.bob, f"{ASK}/{ready.estimate_id}")

    assert part.all("img") == [] and HOSTILE in part.text


def test_why_there_is_none_is_said(story: Any, asked: Estimate, get: Callable[..., Any]) -> None:
    estimates.claim(asked, ATTEMPT)
    estimates.finish(asked, ATTEMPT, None, "There is no process 4711.")

    part = get(story.bob, f"{ASK}/{asked.estimate_id}")

    assert part.one("h3").text == "No estimate of process 4711"
    assert "There is no process 4711." in part.text


@pytest.mark.parametrize(
    "changes, problem",
    [
        ({"process": ""}, "Pick a process first."),
        ({"process": "4711-9"}, "This process has ended, or its pid is another process now."),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(
    story: Any, live_host: Host, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any],
    changes: dict[str, str], problem: str,
) -> None:  # fmt: skip
    client, form = as_user(story.bob), filled_in(live_host, **changes)

    part = page_of(client.post(ASK, form, headers={"HX-Request": "true"}))
    page = page_of(client.post(ASK, form, follow=True))

    assert problem in part.text and problem in page.text
    assert Estimate.objects.count() == 0


def test_a_silent_host_counts_nothing(
    story: Any, live_host: Host, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    Host.objects.update(last_seen_at=timezone.now() - timedelta(minutes=1))

    response = as_user(story.bob).post(ASK, filled_in(live_host), headers={"HX-Request": "true"})

    assert "web-1 does not report now" in page_of(response).text


def test_a_host_that_counts_another_process_says_so(
    story: Any, asked: Estimate, live_host: Host, as_user: Callable[[User], Client],
    page_of: Callable[[HttpResponse], Any],
) -> None:  # fmt: skip
    response = as_user(story.alice).post(ASK, filled_in(live_host, process="880-2"), headers={"HX-Request": "true"})

    assert "web-1 counts another process now. Ask again in a few seconds." in page_of(response).text


def test_another_teams_host_is_not_there(story: Any, as_user: Callable[[User], Client]) -> None:
    form = {"host": story.other_host.host_id, "process": "4711-1234"}

    assert as_user(story.alice).post(ASK, form).status_code == 404


def test_enter_in_a_field_records(story: Any, live_host: Host, get: Callable[..., Any]) -> None:
    form = get(story.bob, NEW_RUN)

    first = next(button for button in form.all("button", type="submit") if button.inside[-1] == "form")
    assert "formaction" not in first.attributes
