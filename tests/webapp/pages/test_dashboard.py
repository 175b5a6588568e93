"""The dashboard: newest runs first, key numbers, filters as a form and as chips, paging that stays fast."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from webapp.hosts.models import Host
from webapp.runs.models import Run, State
from webapp.teams.models import User

DASHBOARD = "/p/search-api/"
QUERIES = 13


def run_ids(page: Any) -> list[str]:
    return [box.attributes["value"] for box in page.all("input", name="run")]


def test_it_lists_the_newest_run_first(story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]) -> None:
    older, newest, oldest = (listed_run(minutes=minutes).run_id for minutes in (5, 1, 9))

    assert run_ids(get(story.alice, DASHBOARD)) == [newest, older, oldest]


def test_it_lists_neither_previews_nor_runs_of_other_projects(
    story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]
) -> None:
    listed_run(project=None)
    listed_run(project=story.ads)
    mine = listed_run()

    assert run_ids(get(story.alice, DASHBOARD)) == [mine.run_id]


def test_each_row_is_a_link_and_says_what_the_run_is(
    story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]
) -> None:
    run = listed_run(service="search", deploy="2026.11.5", labels={"load": "replay"}, host_name="web-1")

    page = get(story.alice, DASHBOARD)

    assert page.one("a", class_="rowlink").attributes["href"] == f"/runs/{run.run_id}"
    row = page.one("tbody", id="rows").text
    for words in ("ready", "search", "2026.11.5", "load=replay", "web-1", "malloc", "898.0\u00a0MB"):
        assert words in row


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"state": State.QUEUED, "host_name": "web-1"}, "queued for web-1"),
        ({"state": State.CLAIMED}, "starting"),
        ({"state": State.RECORDING, "elapsed_s": 204, "spec": {"duration_s": 600}}, "recording 3:24 of 10:00"),
        ({"state": State.INGESTING, "snapshot_count": 2, "expected_snapshots": 3}, "reading 2 of 3"),
        ({"state": State.READY}, "ready"),
        ({"state": State.READY, "events": 979, "lost": {"ring_buffer_full": 21}}, "weak data 2.1\u00a0% lost"),
        ({"state": State.READY, "events": 9_999_999, "lost": {"failed_stack": 1}}, "weak data 1\u00a0event lost"),
        ({"state": State.FAILED, "reason": "The agent was lost."}, "failed The agent was lost."),
        ({"state": State.CANCELLED, "reason": "Cancelled by bob."}, "cancelled by bob"),
    ],
)
def test_each_state_has_its_words(
    facts: dict[str, Any], words: str, story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]
) -> None:
    listed_run(**facts)

    state = get(story.alice, DASHBOARD).one("td", class_="state")

    assert " ".join(state.text.split(" ")).strip() == words  # not split(): it would take no-break spaces too


def test_it_shows_the_key_numbers(
    story: Any, get: Callable[..., Any], listed_run: Callable[..., Run], live_host: Host
) -> None:
    now = timezone.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    listed_run(created_at=midnight)
    listed_run(created_at=max(midnight, now - timedelta(seconds=1)), state=State.RECORDING)
    listed_run(created_at=midnight - timedelta(hours=1), state=State.FAILED)

    facts = get(story.alice, DASHBOARD).one("dl", class_="facts").text

    assert "today 2 runs" in facts
    assert "active 1" in facts
    assert "failed in 7 days 1" in facts
    assert "hosts 1 of 1 reporting" in facts


def test_an_empty_project_tells_what_to_do_next(story: Any, get: Callable[..., Any]) -> None:
    page = get(story.alice, DASHBOARD)

    steps = page.one("ol", class_="steps")
    assert "No runs yet" in page.text
    assert "memflame upload out.folded" in steps.text and "--project search-api" in steps.text
    assert len(page.all("li")) - len(page.all("ul", class_="crumbs")) * 2 == 3
    assert page.one("a", class_="primary").attributes["href"] == "/p/search-api/record"
    assert not page.all("form", class_="filters")


def test_a_viewer_is_offered_nothing_that_would_be_refused(
    story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]
) -> None:
    empty = get(story.vera, DASHBOARD)
    listed_run()
    filled = get(story.vera, DASHBOARD)

    for page in (empty, filled):
        assert not [a for a in page.all("a") if a.attributes["href"].endswith(("/record", "/p/search-api/upload"))]


FILTERS = {
    "service=search": {"service": "search"},
    "host=web-1": {"host_name": "web-1"},
    "collector=brk": {"collector": "brk"},
    "deploy=2026.11.5": {"deploy": "2026.11.5"},
    "state=failed": {"state": State.FAILED},
    "state=active": {"state": State.QUEUED},
    "label=load%3Dreplay": {"labels": {"load": "replay"}},
    "text=indexer": {"title": "indexer --all"},
    "since=2020-01-01&until=2020-01-02": {"created_at": datetime(2020, 1, 2, 23, 59, tzinfo=UTC)},
}


@pytest.mark.parametrize("query", list(FILTERS))
def test_a_filter_leaves_what_matches_and_shows_as_a_chip_that_removes_it(
    query: str, story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]
) -> None:
    wanted = listed_run(**FILTERS[query])
    listed_run()

    page = get(story.alice, f"{DASHBOARD}?{query}")

    assert run_ids(page) == [wanted.run_id]
    chips = page.all("span", class_="chip")
    assert len(chips) == len(parse_qs(query))
    links = [a.attributes["href"] for a in page.all("a") if a.attributes.get("aria-label", "").startswith("Remove")]
    assert all(len(parse_qs(link.lstrip("?"))) == len(chips) - 1 for link in links)


def test_filters_add_up(story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]) -> None:
    both = listed_run(service="search", labels={"load": "replay", "class": "c6"})
    listed_run(service="search", labels={"load": "replay"})
    listed_run(service="index", labels={"load": "replay", "class": "c6"})

    page = get(story.alice, f"{DASHBOARD}?service=search&label=load:replay&label=class=c6")

    assert run_ids(page) == [both.run_id]


def test_a_chip_removes_its_own_filter_only(
    story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]
) -> None:
    listed_run(service="search", labels={"a": "1", "b": "2"})

    page = get(story.alice, f"{DASHBOARD}?service=search&label=a:1&label=b:2")

    links = [a.attributes["href"] for a in page.all("a") if a.attributes.get("aria-label", "").startswith("Remove")]
    assert [parse_qs(link.lstrip("?")) for link in links] == [
        {"label": ["a:1", "b:2"]},
        {"service": ["search"], "label": ["b:2"]},
        {"service": ["search"], "label": ["a:1"]},
    ]


def test_the_form_keeps_what_is_chosen(story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]) -> None:
    listed_run(service="search")

    page = get(story.alice, f"{DASHBOARD}?service=search&state=ready&text=api&since=2020-01-01&label=a:1")

    chosen = [option.text for option in page.all("option") if "selected" in option.attributes]
    assert chosen == ["search", "ready"]
    assert page.one("input", name="text").attributes["value"] == "api"
    assert page.one("input", name="since").attributes["value"] == "2020-01-01"
    assert page.one("input", type="hidden", name="label").attributes["value"] == "a:1"


def test_when_no_run_matches_it_offers_to_clear_the_filters(
    story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]
) -> None:
    newest = listed_run()

    page = get(story.alice, f"{DASHBOARD}?host=nowhere&service=none")

    assert "No run matches 2 filters" in page.text
    assert newest.run_id in page.text
    assert [a.attributes["href"] for a in page.all("a") if a.text == "Clear filters"] == [DASHBOARD] * 2


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("state=broken", "state is 'broken', there is active, queued"),
        ("since=yesterday", "since is 'yesterday', it must be a day such as 2026-11-29"),
        ("label=load", "label is 'load', it must be key:value"),
        ("cursor=abc", "cursor is 'abc', it must be one that an earlier page gave"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused_in_words(
    query: str, words: str, story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]
) -> None:
    listed_run()

    page = get(story.alice, f"{DASHBOARD}?{query}", status=422)

    assert words in page.one("div", role="alert").text


def test_it_pages_through_all_runs_without_a_gap_or_a_repeat(
    story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]
) -> None:
    moment = timezone.now()
    # Many runs of one moment: a cursor of the time alone would lose or repeat some.
    made = [listed_run(created_at=moment).run_id for _ in range(70)]
    made += [listed_run(minutes=1 + n).run_id for n in range(40)]

    seen, path, pages = [], f"{DASHBOARD}?collector=malloc", 0
    while path:
        page = get(story.alice, path)
        seen += run_ids(page)
        pages += 1
        older = [a.attributes["href"] for a in page.all("a") if a.text == "Older runs"]
        path = f"{DASHBOARD}{older[0]}" if older else ""

    assert pages == 3
    assert len(seen) == 110 and set(seen) == set(made)


def test_fifty_runs_ask_the_database_no_more_than_one(
    story: Any,
    as_user: Callable[[User], Client],
    listed_run: Callable[..., Run],
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    client = as_user(story.alice)
    listed_run(labels={"load": "replay"})
    with django_assert_num_queries(QUERIES):
        client.get(DASHBOARD)
    for minutes in range(60):
        listed_run(minutes=minutes, labels={"load": "replay"})

    with django_assert_num_queries(QUERIES):
        client.get(DASHBOARD)


def copy_run(run: Run, copies: int) -> None:
    """The same run again, each a minute older than the one before: by the database, since 100,000 objects take long."""
    columns = [
        field.column for field in Run._meta.concrete_fields if field.column not in ("id", "run_id", "created_at")
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            WITH RECURSIVE copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy WHERE n < {copies})
            INSERT INTO runs_run (run_id, created_at, {", ".join(columns)})
            SELECT 'r-' || n, datetime(created_at, '-' || n || ' minutes'), {", ".join(columns)}
            FROM runs_run, copy WHERE id = {run.pk}
            """
        )


def test_at_100_000_runs_a_late_page_seeks_in_the_index(
    story: Any,
    get: Callable[..., Any],
    as_user: Callable[[User], Client],
    listed_run: Callable[..., Run],
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    copy_run(listed_run(), 100_000)
    two_months_ago = timezone.now().date() - timedelta(days=60)
    page = get(story.alice, f"{DASHBOARD}?until={two_months_ago}")
    older = next(a.attributes["href"] for a in page.all("a") if a.text == "Older runs")
    client = as_user(story.alice)

    with django_assert_num_queries(QUERIES), CaptureQueriesContext(connection) as captured:
        response = client.get(DASHBOARD + older)

    assert response.content.count(b'name="run"') == 50
    page_query = next(query["sql"] for query in captured if "LIMIT 51" in query["sql"])
    assert "OFFSET" not in page_query
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {page_query}")
        plan = " ".join(str(row[-1]) for row in cursor.fetchall())
    assert "run_page" in plan and "created_at<" in plan
    assert "TEMP B-TREE FOR ORDER BY" not in plan


def test_rows_refresh_by_themselves_only_while_a_run_is_active(
    story: Any, get: Callable[..., Any], listed_run: Callable[..., Run]
) -> None:
    run = listed_run(state=State.RECORDING)
    while_active = get(story.alice, f"{DASHBOARD}?service=&collector=malloc").one("tbody", id="rows")
    Run.objects.filter(pk=run.pk).update(state=State.READY)
    after = get(story.alice, DASHBOARD).one("tbody", id="rows")

    assert while_active.attributes["hx-trigger"] == "every 2s"
    assert while_active.attributes["hx-get"] == f"{DASHBOARD}?service=&collector=malloc"
    assert "hx-get" not in after.attributes


def test_a_refresh_answers_the_rows_only(
    story: Any,
    as_user: Callable[[User], Client],
    page_of: Callable[[HttpResponse], Any],
    listed_run: Callable[..., Run],
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    run, client = listed_run(state=State.RECORDING), as_user(story.alice)

    with django_assert_num_queries(4):
        response = client.get(DASHBOARD, headers={"HX-Request": "true"})

    page = page_of(response)
    assert page.elements[0].tag == "tbody" and run_ids(page) == [run.run_id]


def test_a_notice_of_the_project_stands_above_the_runs(story: Any, get: Callable[..., Any]) -> None:
    story.search.notice = "bcc does not work here: <b>kernel</b> too old."
    story.search.save()

    page = get(story.alice, DASHBOARD)

    assert "bcc does not work here: <b>kernel</b> too old." in page.one("div", class_="notes").text
