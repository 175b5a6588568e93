"""Names that are made to break a page: shown as the text they are, in every place where a person meets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from webapp.hosts.models import Host
from webapp.runs.models import Run, State
from webapp.teams.models import User

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\"'gnp"


@pytest.fixture
def hostile_run(listed_run: Callable[..., Run]) -> Run:
    return listed_run(
        title=HOSTILE, service=HOSTILE, deploy=HOSTILE, host_name=HOSTILE, collector="upload", unit=HOSTILE[:40],
        value_type=HOSTILE, labels={HOSTILE: HOSTILE}, state=State.FAILED, reason=HOSTILE,
    )  # fmt: skip


def test_the_dashboard_shows_them_as_text(story: Any, hostile_run: Run, get: Callable[..., Any]) -> None:
    page = get(story.alice, "/p/search-api/")

    assert not page.all("img")
    rows = page.one("tbody", id="rows").text
    assert rows.count(HOSTILE) >= 6  # reason, service, title, host, deploy, label
    assert [option.text for option in page.all("option")].count(HOSTILE) == 3  # service, host, deploy


@pytest.mark.parametrize("name", ["service", "host", "collector", "deploy", "text"])
def test_filters_show_them_as_text(
    name: str, story: Any, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any], hostile_run: Run
) -> None:
    page = page_of(as_user(story.alice).get("/p/search-api/", {name: HOSTILE, "label": f"{HOSTILE}={HOSTILE}"}))

    assert not page.all("img")
    assert len([chip for chip in page.all("span", class_="chip") if HOSTILE in chip.text]) == 2


def test_the_process_list_shows_them_as_text(story: Any, live_host: Host, get: Callable[..., Any]) -> None:
    page = get(story.alice, "/p/search-api/record")

    assert not page.all("img")
    assert HOSTILE in [label.text for label in page.all("label")]


def test_text_that_turns_the_reading_direction_is_kept_inside_its_cell(
    story: Any, live_host: Host, get: Callable[..., Any], hostile_run: Run
) -> None:
    """The class is what isolates it: `unicode-bidi: isolate` in app.css."""
    cells = [cell for cell in get(story.alice, "/p/search-api/").all("td") if "\u202e" in cell.text]
    cells += [cell for cell in get(story.alice, "/p/search-api/record").all("td") if "\u202e" in cell.text]

    assert len(cells) >= 7
    for cell in cells:
        assert {"cut", "fn", "state", "n"} & set(cell.attributes["class"].split()), cell


def test_messages_and_the_delete_page_show_them_as_text(story: Any, hostile_run: Run, get: Callable[..., Any]) -> None:
    page = get(story.alice, f"/runs/{hostile_run.run_id}/delete")

    assert not page.all("img") and HOSTILE in page.one("h1").text


def test_a_hostile_token_and_member_name_is_text(
    story: Any, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    client = as_user(story.alice)
    client.post("/p/search-api/settings", {"action": "create_token", "name": HOSTILE})

    page = page_of(client.post("/p/search-api/settings", {"action": "add_member", "username": HOSTILE}))

    assert not page.all("img")
    assert page.text.count(HOSTILE) == 2
