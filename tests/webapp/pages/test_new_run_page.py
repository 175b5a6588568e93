"""The New-run page: a live list to pick from, what a collector sees and costs, errors in words, one run at the end."""

from __future__ import annotations

import html
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from tests.webapp.pages.new_run import NEW_RUN, checked_in, filled_in
from tracer.protocol import COLLECTORS
from webapp.hosts.models import Host
from webapp.runs.models import Run, State
from webapp.teams.models import User


def test_it_queues_the_run_that_was_asked_for_and_shows_it(
    story: Any, live_host: Host, as_user: Callable[[User], Client]
) -> None:
    form = filled_in(live_host, service="search", deploy="2026.11.5", labels="load=replay, class:c6")

    response = as_user(story.bob).post(NEW_RUN, form)

    run = Run.objects.get()
    assert response["Location"] == f"/runs/{run.run_id}"
    assert (run.state, run.project, run.created_by, run.host) == (State.QUEUED, story.search, story.bob, live_host)
    assert (run.collector, run.service, run.deploy) == ("malloc", "search", "2026.11.5")
    assert run.labels == {"load": "replay", "class": "c6"}
    assert (run.spec["pid"], run.spec["start_time"]) == (4711, 1234)
    assert (run.spec["duration_s"], run.spec["snapshot_every_s"]) == (60.0, 6.0)
    assert run.expected_snapshots == 10


def test_options_that_are_filled_in_are_those_of_the_run(
    story: Any, live_host: Host, as_user: Callable[[User], Client]
) -> None:
    pool = {"alloc": "libpool.so:get@2", "free": "libpool.so:put@1"}
    options = {"age_bands": "30s,5m", "older_than": "30s", "min_size": "64", "max_size": "", **pool}

    as_user(story.bob).post(NEW_RUN, filled_in(live_host, **options))

    assert Run.objects.get().spec["options"] == {
        "age_bands": "30s,5m", "older_than": "30s", "min_size": 64, "mode": "auto", **pool,
    }  # fmt: skip


def test_children_and_further_processes_are_those_of_the_run(
    story: Any, live_host: Host, as_user: Callable[[User], Client]
) -> None:
    twin = next(row for row in live_host.processes if row["pid"] == 4711) | {"pid": 4800, "start_time": 5}
    other = {"pid": 4900, "start_time": 6, "command": "other"}
    Host.objects.filter(pk=live_host.pk).update(processes=[*live_host.processes, twin, other])

    as_user(story.bob).post(
        NEW_RUN, filled_in(live_host, all_named="1", also_pids="4900", follow_children="1", by_process="1")
    )

    run = Run.objects.get()
    assert run.spec["target"] == "pids:4711@1234,4800@5,4900@6"
    assert run.spec["options"] == {"follow_children": 1, "by_process": 1, "mode": "auto"}
    assert run.target_words == "4711, 4800, 4900 and their children"


@pytest.mark.parametrize(
    ("pids", "reason"),
    [
        ("4799", "Process 4799 does not run on"),
        ("4711; 880", "'4711; 880' is no process number. Separate pids by commas."),
    ],
)
def test_a_further_pid_that_does_not_run_is_refused(
    story: Any, live_host: Host, as_user: Callable[[User], Client], pids: str, reason: str
) -> None:
    response = as_user(story.bob).post(NEW_RUN, filled_in(live_host, also_pids=pids))

    assert response.status_code == 422
    assert reason in html.unescape(response.content.decode())
    assert not Run.objects.exists()


def test_a_way_to_find_stacks_that_was_chosen_is_that_of_the_run(
    story: Any, live_host: Host, as_user: Callable[[User], Client]
) -> None:
    for unwind in ("dwarf", "auto"):
        as_user(story.bob).post(NEW_RUN, filled_in(live_host, unwind=unwind))

    options = [run.spec["options"] for run in Run.objects.order_by("pk")]
    assert options == [{"unwind": "dwarf", "mode": "auto"}, {"mode": "auto"}]


def test_a_mode_that_was_chosen_is_that_of_the_run(
    story: Any, live_host: Host, as_user: Callable[[User], Client]
) -> None:
    as_user(story.bob).post(NEW_RUN, filled_in(live_host, mode="sampled", sample_bytes="65536"))

    assert Run.objects.get().spec["options"] == {"mode": "sampled", "sample_bytes": 65536}


def test_options_that_a_mode_does_not_have_are_refused_beside_their_fields(
    story: Any, live_host: Host, as_user: Callable[[User], Client]
) -> None:
    response = as_user(story.bob).post(NEW_RUN, filled_in(live_host, mode="calls", older_than="30s"))

    assert "mode calls follows no blocks: leave it out." in response.content.decode()
    assert not Run.objects.exists()


def test_lines_are_recorded_when_they_were_asked_for(
    story: Any, live_host: Host, as_user: Callable[[User], Client]
) -> None:
    for lines in ("1", ""):
        as_user(story.bob).post(NEW_RUN, filled_in(live_host, lines=lines))

    assert [run.spec["options"] for run in Run.objects.order_by("pk")] == [
        {"lines": 1, "mode": "auto"},
        {"mode": "auto"},
    ]


def test_a_recording_has_the_limits_that_were_filled_in(
    story: Any, live_host: Host, as_user: Callable[[User], Client]
) -> None:
    as_user(story.bob).post(NEW_RUN, filled_in(live_host, budget="2.5", max_stacks="65536", max_blocks=""))

    assert Run.objects.get().spec["options"] == {"budget": "2.5", "max_stacks": 65536, "mode": "auto"}


def test_the_plan_says_how_much_memory_the_maps_take(story: Any, live_host: Host, get: Callable[..., Any]) -> None:
    plan = get(story.bob, f"{NEW_RUN}?collector=malloc&max_blocks=4194304").one("aside", class_="price").text

    assert "407.9\xa0MB of web-1’s memory are taken while it records" in plan


def test_more_options_are_folded_away_until_one_is_used(story: Any, live_host: Host, get: Callable[..., Any]) -> None:
    assert "open" not in get(story.bob, NEW_RUN).one("details", class_="options").attributes
    assert "open" in get(story.bob, f"{NEW_RUN}?older_than=30s").one("details", class_="options").attributes
    assert "open" in get(story.bob, f"{NEW_RUN}?lines=1").one("details", class_="options").attributes
    assert "open" in get(story.bob, f"{NEW_RUN}?unwind=fp").one("details", class_="options").attributes


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"duration": "10"}, (10.0, 1.0, 10)),
        ({"duration": "600"}, (600.0, 60.0, 10)),
        ({"duration": "own", "own_duration": "5"}, (5.0, 1.0, 5)),
        ({"duration": "own", "own_duration": "90", "snapshot_every": "30"}, (90.0, 30.0, 3)),
        ({"duration": "10", "snapshot_every": "60"}, (10.0, 10.0, 1)),
    ],
)
def test_it_takes_about_ten_snapshots_unless_told_otherwise(
    times: dict[str, str],
    expected: tuple[float, float, int],
    story: Any,
    live_host: Host,
    as_user: Callable[[User], Client],
) -> None:
    as_user(story.bob).post(NEW_RUN, filled_in(live_host, **times))

    run = Run.objects.get()
    assert (run.spec["duration_s"], run.spec["snapshot_every_s"], run.expected_snapshots) == expected


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"process": "absent"}, "Pick a process."),
        ({"process": "4711-9"}, "Process 4711 has ended, or its pid is another process now."),
        ({"process": "junk"}, "Process junk has ended"),
        ({"collector": "absent"}, "Pick a collector."),
        ({"collector": "page_faults"}, "web-1 can’t run page_faults: the kernel lacks the tracepoint"),
        ({"duration": "own"}, "Enter a number of seconds."),
        ({"duration": "own", "own_duration": "soon"}, "Enter a number of seconds."),
        ({"duration": "own", "own_duration": "0.5"}, "0.5 s is out of range: at least 1 s, at most 3,600 s."),
        ({"duration": "own", "own_duration": "86400"}, "86400 s is out of range"),
        ({"duration": "own", "own_duration": "nan"}, "Enter a number of seconds."),
        ({"snapshot_every": "0.1"}, "0.1 s is too often, the least is 1 s."),
        ({"duration": "own", "own_duration": "3600", "snapshot_every": "1"}, "3,600 snapshots, the limit is 2,000."),
        ({"labels": "load"}, "label is 'load', it must be key=value. Separate labels by commas."),
        ({"labels": "a=" + "x" * 201}, "The label “a” is too long: 60 characters, and 200 of value, are the limit."),
        ({"labels": ",".join(f"k{n}=v" for n in range(21))}, "These are 21 labels, the limit is 20."),
        ({"older_than": "soon"}, "This is 'soon': an age is a whole number with s, m or h behind it, such as 30s."),
        ({"older_than": "48h"}, "This is 48h: the limit of an age is 24h."),
        ({"age_bands": "1m,10s"}, "This is '1m,10s': each bound must be above the one before it."),
        ({"min_size": "many"}, "Enter a whole number of bytes."),
        ({"min_size": "-1"}, "This is -1, it must be a number of bytes from 0 to"),
        ({"min_size": "65", "max_size": "64"}, "This is 65 bytes, it must not be above max_size, which is 64."),
        (
            {"collector": "brk", "older_than": "30s"},
            "This is '30s', but brk has no blocks: leave it out",
        ),
        ({"alloc": "pool_get"}, "This is 'pool_get', it must be LIBRARY:FUNCTION@SIZE, such as libpool.so:pool_get@1."),
        ({"free": "libpool.so:pool_put"}, "This is 'libpool.so:pool_put', but there is no alloc"),
        ({"addr": "malloc"}, "This is 'malloc', it must be FUNCTION=ADDRESS, such as malloc=0x4012f0."),
        (
            {"collector": "brk", "unwind": "dwarf"},
            "This is 'dwarf', but brk has no choice: leave it out, or use malloc.",
        ),
        ({"unwind": "lbr"}, "Select a valid choice."),
        ({"lines": "2"}, "Select a valid choice."),
        ({"budget": "much"}, "This is 'much', it must be a percentage of one core, or none."),
        ({"budget": "0"}, "This is 0, it must be from 0.1 to 10,000 percent of one core, or none."),
        ({"max_stacks": "1"}, "This is 1, it must be from 16 to 131,072."),
        ({"max_stacks": "131072", "max_blocks": "4194304"}, "would take 542 MB of memory, the limit is 512 MB."),
        ({"service": "a\tb"}, "This holds a control character"),
        ({"service": "x" * 101}, "at most 100 characters"),
    ],
)
def test_it_says_what_is_wrong_and_records_nothing(
    changes: dict[str, str],
    words: str,
    story: Any,
    live_host: Host,
    as_user: Callable[[User], Client],
    page_of: Callable[[HttpResponse], Any],
) -> None:
    response = as_user(story.bob).post(NEW_RUN, filled_in(live_host, **changes))

    assert response.status_code == 422
    assert words in page_of(response).text
    assert not Run.objects.exists()


def test_what_was_chosen_stays_chosen_after_an_error(
    story: Any, live_host: Host, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    form = filled_in(live_host, collector="brk", duration="600", service="search", labels="load")

    page = page_of(as_user(story.bob).post(NEW_RUN, form))

    assert checked_in(page) == {"4711-1234", "brk", "600"}
    assert page.one("input", name="service").attributes["value"] == "search"
    assert page.one("input", name="labels").attributes["aria-invalid"] == "true"


def test_a_host_that_does_not_report_records_nothing(
    story: Any, live_host: Host, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    Host.objects.update(last_seen_at=timezone.now() - timedelta(minutes=2))

    page = page_of(as_user(story.bob).post(NEW_RUN, filled_in(live_host)))

    assert "web-1 does not report now, so nothing can be recorded there." in page.one("div", role="alert").text
    assert not Run.objects.exists()


def test_the_host_of_another_team_cannot_be_recorded_on(
    story: Any, live_host: Host, as_user: Callable[[User], Client]
) -> None:
    Host.objects.filter(pk=story.other_host.pk).update(processes=live_host.processes, last_seen_at=timezone.now())

    as_user(story.bob).post(NEW_RUN, filled_in(story.other_host))

    assert not Run.objects.exclude(host=live_host).exists()


def test_a_viewer_cannot_record(story: Any, live_host: Host, as_user: Callable[[User], Client]) -> None:
    response = as_user(story.vera).post(NEW_RUN, filled_in(live_host))

    assert response.status_code == 403
    assert "You see this project as a viewer." in response.content.decode()
    assert not Run.objects.exists()


def test_each_collector_says_what_it_sees_and_costs_or_why_the_host_cannot(
    story: Any, live_host: Host, get: Callable[..., Any]
) -> None:
    page = get(story.bob, NEW_RUN)

    for name, facts in COLLECTORS.items():
        is_off = "disabled" in page.one("input", name="collector", value=name).attributes
        assert is_off == (name == "page_faults")
        assert ("not here: the kernel lacks the tracepoint" if is_off else facts.sees) in page.text


def test_processes_come_largest_first_with_what_tells_them_apart(
    story: Any, live_host: Host, get: Callable[..., Any]
) -> None:
    page = get(story.bob, NEW_RUN)

    rows = [row.text.split() for row in page.all("tr") if "label" not in row.inside and "tbody" in row.inside]
    assert [row[0] for row in rows[:3]] == ["880", "4711", "66"]
    assert "6.0 GB" in " ".join(rows[0]) and "postgres" in rows[0]


def test_it_says_so_when_no_host_is_there(story: Any, get: Callable[..., Any]) -> None:
    Host.objects.all().delete()

    page = get(story.bob, NEW_RUN)

    assert "No host yet" in page.text
    assert page.one("a", class_="primary").attributes["href"] == "/p/search-api/hosts#enrol"


def test_it_can_be_filled_in_by_a_link(story: Any, live_host: Host, get: Callable[..., Any]) -> None:
    query = f"host={live_host.host_id}&process=880-2&collector=mmap&duration=600&service=search&labels=load%3Dreplay"

    page = get(story.bob, f"{NEW_RUN}?{query}")

    assert checked_in(page) == {"880-2", "mmap", "600"}
    assert page.one("input", name="labels").attributes["value"] == "load=replay"


def test_the_button_says_what_it_will_do(
    story: Any, live_host: Host, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    query = filled_in(live_host, collector="brk", duration="600")

    page = page_of(as_user(story.bob).get(NEW_RUN, query, headers={"HX-Request": "true"}))

    assert page.one("button").text == "Record brk for 10\u00a0min"
    assert "10 snapshots, one every 1\u00a0min." in page.text
    assert COLLECTORS["brk"].costs in page.text


@pytest.mark.parametrize("duration", ["", "soon", "-1", "1e400"])
def test_a_half_filled_form_has_a_plan_too(
    duration: str, story: Any, live_host: Host, as_user: Callable[[User], Client]
) -> None:
    query = filled_in(live_host, duration="own", own_duration=duration, collector="absent")

    response = as_user(story.bob).get(NEW_RUN, query, headers={"HX-Request": "true"})

    assert response.status_code == 200 and "Pick a collector." in response.content.decode()


def test_many_hosts_are_a_menu_instead_of_a_switch(story: Any, live_host: Host, get: Callable[..., Any]) -> None:
    for number in range(2, 9):
        Host.enrol(story.search.team, f"web-{number}")

    page = get(story.bob, NEW_RUN)

    options = page.all("option")
    assert options[0].text == "web-1" and "selected" in options[0].attributes
    assert options[1].text == "web-2, silent"
