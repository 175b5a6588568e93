"""Hosts: what agents say, enrolling one, and the live list of processes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from webapp.hosts.models import Host
from webapp.teams.models import User

HOSTS = "/p/search-api/hosts"


def test_it_shows_what_each_agent_is_and_can_do(story: Any, live_host: Host, get: Callable[..., Any]) -> None:
    row = get(story.vera, HOSTS).one("tbody").text

    for words in ("web-1", "answered", "0.1.0", "6.1.0-27-amd64", "Debian 12", "malloc, brk, mmap"):
        assert words in row
    assert "not page_faults: the kernel lacks the tracepoint" in row


def test_a_host_without_bcc_says_what_it_records_by_perf(story: Any, live_host: Host, get: Callable[..., Any]) -> None:
    live_host.facts |= {"collectors": {"malloc": "bcc is missing", "brk": "bcc is missing"}, "perf": {"malloc": ""}}
    live_host.save()

    row = get(story.vera, HOSTS).one("tbody").text

    assert "by perf malloc" in row and "not malloc, brk: bcc is missing" in row
    assert "nothing" not in row


def test_an_agent_that_fell_silent_is_marked_in_words(story: Any, live_host: Host, get: Callable[..., Any]) -> None:
    Host.objects.update(last_seen_at=timezone.now() - timedelta(minutes=3))

    page = get(story.alice, HOSTS)

    assert "silent, last heard 3\u00a0min\u00a0ago" in page.one("span", class_="weak").text
    assert "0 of 1 reporting" in page.text
    assert not [a for a in page.all("a") if a.text == "Record"]


def test_an_agent_that_never_reported_can_do_nothing_known(story: Any, get: Callable[..., Any]) -> None:
    row = get(story.alice, HOSTS).one("tbody").text

    assert "never heard" in row and "not known until its agent reports" in row


def test_hosts_of_another_team_are_not_listed(story: Any, get: Callable[..., Any]) -> None:
    assert "ads-1" not in get(story.alice, HOSTS).text


def test_enrolling_shows_a_token_that_works_once(
    story: Any, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any], get: Callable[..., Any]
) -> None:
    response = as_user(story.alice).post(HOSTS, {"name": "web-2"})

    command = page_of(response).one("code", class_="secret").text
    token = command.split()[0].removeprefix("MEMFLAME_TOKEN=")
    found = Host.find(token)
    assert found is not None and (found.name, found.team) == ("web-2", story.search.team)
    assert "no-store" in response["Cache-Control"]
    assert token not in get(story.alice, HOSTS).text


def test_enrolling_again_makes_the_old_token_void(story: Any, as_user: Callable[[User], Client]) -> None:
    as_user(story.alice).post(HOSTS, {"name": "web-1"})

    assert Host.find(story.host_token) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "Enter the name that people know the host by."),
        ("<b>", "A host name is letters, digits, dots, dashes and underscores"),
        ("x" * 101, "at most 100 characters"),
    ],
)
def test_a_bad_name_is_refused_in_words(
    name: str, words: str, story: Any, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    response = as_user(story.alice).post(HOSTS, {"name": name})

    assert response.status_code == 422
    assert words in page_of(response).text
    assert Host.objects.of_project(story.search).count() == 1


def test_only_owners_of_the_team_enrol(story: Any, as_user: Callable[[User], Client]) -> None:
    statuses = [as_user(user).post(HOSTS, {"name": "web-2"}).status_code for user in (story.bob, story.vera)]

    assert statuses == [403, 403]
    assert not Host.objects.filter(name="web-2").exists()


@pytest.fixture
def processes(
    story: Any, live_host: Host, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> Callable[..., Any]:
    def fetch(**query: str) -> Any:
        return page_of(as_user(story.bob).get(f"{HOSTS}/{live_host.host_id}/processes", query))

    return fetch


def pids(page: Any) -> list[str]:
    return [box.attributes["value"].partition("-")[0] for box in page.all("input", name="process")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", ["880", "4711", "66"]), ("POSTGRES", ["880"]), ("www", ["4711"]), ("66", ["66"]), ("search 80", ["4711"])],
)
def test_the_list_is_filtered_by_pid_command_and_user(
    text: str, expected: list[str], processes: Callable[..., Any]
) -> None:
    assert pids(processes(find=text)) == expected


def test_the_chosen_process_stays_chosen_and_listed(processes: Callable[..., Any]) -> None:
    page = processes(find="postgres", process="4711-1234")

    assert pids(page) == ["880", "4711"]
    checked = [box.attributes["value"] for box in page.all("input") if "checked" in box.attributes]
    assert checked == ["4711-1234"]


def test_a_restarted_process_is_another_one(live_host: Host, processes: Callable[..., Any]) -> None:
    restarted = [row | {"start_time": row["start_time"] + 1} for row in live_host.processes]
    Host.objects.update(processes=restarted)

    page = processes(process="4711-1234")

    assert not [box for box in page.all("input") if "checked" in box.attributes]


def test_a_long_list_is_cut_and_says_so(live_host: Host, processes: Callable[..., Any]) -> None:
    many = [{"pid": n, "start_time": 1, "command": f"worker-{n}", "rss_bytes": n} for n in range(1, 413)]
    Host.objects.update(processes=many)

    page = processes(process="7-1")

    assert len(pids(page)) == 101 and pids(page)[0] == "412" and pids(page)[-1] == "7"
    assert "101 of 412, the largest first. Filter to see the others." in page.text


def test_when_nothing_matches_it_says_what_can_be_matched(processes: Callable[..., Any]) -> None:
    assert "None of the 3 processes matches. Filter by a part of pid" in processes(find="nginx").text


def test_a_host_of_another_team_lists_nothing(story: Any, as_user: Callable[[User], Client]) -> None:
    response = as_user(story.bob).get(f"{HOSTS}/{story.other_host.host_id}/processes")

    assert response.status_code == 404


def test_what_the_doctor_found_is_counted_and_listed_with_the_worst_first(
    story: Any, live_host: Host, get: Callable[..., Any]
) -> None:
    deep = "sysctl -w kernel.perf_event_max_stack=127"
    checks = [
        {"name": "kernel", "state": "ok", "text": "Linux 6.1", "mend": ""},
        {"name": "stack depth", "state": "warning", "text": "64 frames", "mend": deep},
        {"name": "bcc", "state": "failure", "text": "bcc is missing", "mend": "apt-get install python3-bpfcc"},
    ]
    Host.objects.update(facts=live_host.facts | {"checks": checks})

    page = get(story.alice, HOSTS)

    assert "doctor: 1 failure, 1 warning" in page.text
    assert [name.text.split(",")[0] for name in page.all("dt")] == ["bcc", "stack depth", "kernel"]
    assert deep in page.text and "apt-get install python3-bpfcc" in page.text


def test_a_host_whose_agent_sends_no_checks_has_no_doctor(story: Any, live_host: Host, get: Callable[..., Any]) -> None:
    assert "doctor" not in get(story.alice, HOSTS).text
