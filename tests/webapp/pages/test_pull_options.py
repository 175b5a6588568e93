"""The New-run page asks for a profile that the process makes itself: where it is, and how often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from webapp.hosts.models import Host
from webapp.runs.models import Run
from webapp.teams.models import User

NEW_RUN = "/p/search-api/record"
URL = "http://127.0.0.1:4000/v1/prof/mem"


@pytest.fixture
def post(story: Any, live_host: Host, as_user: Callable[[User], Client]) -> Callable[..., Any]:
    def posted(**fields: str) -> Any:
        form = {"host": live_host.host_id, "process": "4711-1234", "collector": "jemalloc", "duration": "60"}
        return as_user(story.bob).post(NEW_RUN, form | fields)

    return posted


def test_a_profile_is_pulled_now_and_every_few_seconds(post: Any) -> None:
    post(url=URL, snapshot_every="20")

    run = Run.objects.get()
    assert (run.collector, run.spec["options"]) == ("jemalloc", {"url": URL})
    assert (run.spec["snapshot_every_s"], run.expected_snapshots) == (20.0, 4)


def test_only_once_is_one_profile(post: Any) -> None:
    post(files="/var/log/search/jeprof.*.heap", once="1")

    run = Run.objects.get()
    assert run.spec["options"] == {"files": "/var/log/search/jeprof.*.heap"}
    assert (run.spec["snapshot_every_s"], run.expected_snapshots) == (0.0, 1)


def test_fields_of_collectors_that_count_in_the_kernel_are_left_alone(post: Any) -> None:
    """The page hides them."""
    post(url=URL, budget="1", mode="exact", follow_children="1")

    assert Run.objects.get().spec["options"] == {"url": URL}


def test_where_the_profile_is_does_not_matter_to_the_others(post: Any) -> None:
    post(collector="brk", url=URL, once="1")

    run = Run.objects.get()
    assert (run.spec["options"], run.spec["snapshot_every_s"]) == ({}, 6.0)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"url": "gopher://host/"}, "it must be an address such as http://127.0.0.1:4000/v1/prof/mem"),
        ({"url": URL, "files": "/var/log/a.heap"}, "an address is given too: leave one of them out"),
        ({"files": "../a.heap"}, "it must be a whole path"),
        ({"collector": "pprof"}, "say where the profile is, such as http://127.0.0.1:6060/debug/pprof/heap"),
    ],
)
def test_what_can_not_be_is_said_beside_its_field(post: Any, fields: dict[str, str], words: str) -> None:
    response = post(**fields)

    assert response.status_code == 422
    assert words in response.content.decode()
    assert not Run.objects.exists()


def test_the_page_says_what_the_agent_allows_and_how_to_switch_profiling_on(
    story: Any, live_host: Host, get: Callable[..., Any]
) -> None:
    allowed = {"name": "pulled profiles", "state": "ok", "text": "from loopback addresses; files: nothing", "mend": ""}
    live_host.facts |= {"checks": [allowed]}
    live_host.save()

    page = get(story.bob, NEW_RUN)

    assert "The agent of web-1 pulls from loopback addresses; files: nothing." in page.text
    assert "MALLOC_CONF=prof:true,prof_active:true,lg_prof_sample:19" in page.text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("collector=jemalloc&once=1", ["One profile, now.", "Pull jemalloc now"]),
        ("collector=pprof", ["11 profiles, one now and one every 6", "Pull pprof for 1"]),
        ("collector=malloc&once=1", ["10 snapshots", "Record malloc for 1\N{NO-BREAK SPACE}min"]),
    ],
)  # fmt: skip
def test_the_plan_says_what_will_be_pulled(
    story: Any, live_host: Host, get: Callable[..., Any], query: str, words: list[str]
) -> None:
    plan = get(story.bob, f"{NEW_RUN}?{query}").one("aside", class_="price").text

    assert [word for word in words if word not in plan] == []


def test_record_again_pulls_from_the_same_place(post: Any, story: Any, get: Callable[..., Any]) -> None:
    post(url=URL, once="1")

    page = get(story.bob, f"{NEW_RUN}?again={Run.objects.get().run_id}")

    assert page.one("input", name="url").attributes["value"] == URL
    assert "checked" in page.one("input", name="once").attributes
