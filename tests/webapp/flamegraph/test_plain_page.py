"""The run page without script: functions of the snapshot and value type of the address, and links to others."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from webapp.flamegraph import plain
from webapp.runs.models import Payload, Run, Snapshot
from webapp.teams.models import User

AsUser = Callable[[User], Client]
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\"'&"


@pytest.fixture
def source(story: Any, as_user: AsUser) -> Callable[..., str]:
    """The page as the site writes it."""
    return lambda run, query="": as_user(story.vera).get(f"/runs/{run.run_id}{query}").content.decode()


def rows(page: str) -> list[list[str]]:
    """The texts of the table's cells."""
    body = re.search(r'data-part="plain-functions">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    assert body
    lines = re.findall(r"<tr>(.*?)</tr>", body[1], re.DOTALL)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", line, re.DOTALL) for line in lines]
    return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in line] for line in cells]


def test_the_table_holds_the_numbers_that_the_page_counts(
    uploaded_run: Callable[..., Run], source: Callable[..., str]
) -> None:
    page = source(uploaded_run())

    assert rows(page) == [
        ["leak_cache", "92.0\xa0kB", "95.7\xa0%", "", "92.0\xa0kB", "95.7\xa0%"],
        ["load_index", "4.0\xa0kB", "4.2\xa0%", "", "4.0\xa0kB", "4.2\xa0%"],
        ["startup", "128\xa0B", "0.1\xa0%", "", "128\xa0B", "0.1\xa0%"],
        ["main", "0\xa0B", "0.0\xa0%", "", "96.1\xa0kB", "100.0\xa0%"],
        ["serve", "0\xa0B", "0.0\xa0%", "", "96.0\xa0kB", "99.9\xa0%"],
    ]
    assert "1–5 of 5 functions. Recursion is counted once." in page
    assert '<rect width="95.71%" height="8"/>' in page
    assert "<b>Bytes allocated while tracing and not freed yet</b>" in page


def test_the_address_chooses_value_type_snapshot_and_order(
    claimed_run: Callable[..., Run], snapshot_of: Callable[..., Snapshot], source: Callable[..., str]
) -> None:
    run = claimed_run()
    first = b"# memflame-folded 1\n# values: outstanding_bytes calls\nmain;early 5 7\n"
    snapshot_of(run, 1, body=first, elapsed_s=5.0)
    snapshot_of(run, 2, body=first.replace(b"early", b"late"), elapsed_s=10.0)

    page = source(run, "?t=calls&s=1&sort=-total")

    assert [row[0] for row in rows(page)] == ["early", "main"]
    assert rows(page)[0][4] == "7"
    assert '<a href="?t=outstanding_bytes&amp;s=1&amp;sort=-total">Outstanding bytes' in page
    assert '<a href="?t=calls&amp;s=2&amp;sort=-total">0:10</a>' in page
    assert '<a href="?t=calls&amp;s=1&amp;sort=-total" aria-current="true">0:05</a>' in page
    assert f"/runs/{run.run_id}/payload/1/calls/" in page
    assert rows(source(run))[0][:2] == ["late", "5\xa0B"]


def test_by_total_the_callers_come_first(uploaded_run: Callable[..., Run], source: Callable[..., str]) -> None:
    page = source(uploaded_run(), "?sort=-total")

    assert [row[0] for row in rows(page)] == ["main", "serve", "leak_cache", "load_index", "startup"]


def test_what_the_address_names_and_the_run_lacks_is_said(
    uploaded_run: Callable[..., Run], source: Callable[..., str]
) -> None:
    page = source(uploaded_run(), "?t=nothing&s=9")

    assert "The value type nothing of the link is not in this run; outstanding_bytes is shown." in page
    assert "Snapshot 9 of the link is not in this run; the newest is shown." in page
    assert len(rows(page)) == 5


def test_hostile_names_are_text(uploaded_run: Callable[..., Run], source: Callable[..., str]) -> None:
    page = source(uploaded_run(f"main;{HOSTILE} 5\nmain;{'x' * 5000} 4\n".encode()), f"?t={HOSTILE}")

    assert "<img" not in page
    assert rows(page)[0][0] == HOSTILE
    assert rows(page)[1][0] == "x" * 999 + "…"


def test_only_the_first_fifty_of_many_are_there(uploaded_run: Callable[..., Run], source: Callable[..., str]) -> None:
    folded = "".join(f"main;caller{number};f{number} {1000 + number}\n" for number in range(200))
    run = uploaded_run(folded.encode())

    by_self, by_total = source(run), source(run, "?sort=-total")

    assert [row[0] for row in rows(by_self)] == [f"f{number}" for number in range(199, 149, -1)]
    assert [row[0] for row in rows(by_total)][:3] == ["main", "caller199", "f199"]
    assert len(rows(by_total)) == 50
    assert "1–50 of 401 functions." in by_self


def test_a_recording_of_nothing_says_so(recorded_run: Callable[..., Run], source: Callable[..., str]) -> None:
    nothing = b'# memflame-folded 1\n# values: outstanding_bytes\n# capture: {"collector": "malloc", "events": 0}\n'

    page = source(recorded_run(nothing))

    assert rows(page) == []
    assert "Nothing that is counted here happened while it was traced." in page


def test_a_snapshot_that_an_older_site_read_says_that_its_table_needs_script(
    uploaded_run: Callable[..., Run], source: Callable[..., str]
) -> None:
    run = uploaded_run()
    Payload.objects.update(functions={})

    page = source(run)

    assert "The picture and the table need JavaScript." in page
    assert "<tbody></tbody>" in page


def test_of_many_snapshots_some_are_linked_and_those_beside_the_shown() -> None:
    row = {"name": "value", "unit": "value", "kind": "level", "meaning": "", "is_signed": False, "is_float": False}
    snapshots = [
        Snapshot(seq=seq, elapsed_s=seq, revision=1, value_types=[row | {"total": 1}]) for seq in range(1, 2001)
    ]
    view = plain.shown(snapshots, {"s": "1001"})
    assert view

    links = plain.page(Run(), snapshots, view, {})["snapshots"]

    found = [int(link["href"].partition("s=")[2]) for link in links]
    assert len(links) <= plain.MOST_LINKS + 4
    assert {1, 1000, 1001, 1002, 2000} <= set(found)
    assert found == sorted(found)
    assert [link["on"] for link in links].count(True) == 1


def test_it_costs_no_more_queries_for_a_link(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run, client = uploaded_run(), as_user(story.alice)

    with django_assert_num_queries(15):  # as the page itself
        client.get(f"/runs/{run.run_id}?t=allocated_bytes&s=1&sort=-total")


def test_a_recording_that_ended_early_says_why(
    claimed_run: Callable[..., Run], snapshot_of: Callable[..., Snapshot], source: Callable[..., str]
) -> None:
    run = claimed_run()
    snapshot_of(run, 1)
    Run.objects.filter(pk=run.pk).update(state="ready", reason="Its budget is 10 %: it was ended after 7 s.")

    page = source(run)

    assert "<h3>The recording ended early</h3><p>Its budget is 10 %: it was ended after 7 s.</p>" in page


def test_the_capture_has_its_grade_figures_details_and_banner(
    claimed_run: Callable[..., Run], snapshot_of: Callable[..., Snapshot], source: Callable[..., str]
) -> None:
    run = claimed_run()
    capture = '{"collector": "malloc", "events": 9000, "lost": {"stack_map_full": 1000}, "allocator": "libc.so.6"}'
    header = f"# memflame-folded 1\n# values: outstanding_bytes\n# capture: {capture}\n"
    snapshot_of(run, 1, body=f"{header}main;keep 60\n[stack not recorded] 40\n".encode())

    page = html.unescape(re.sub("<[^>]*>", "", source(run)))

    assert "So far D, not reliable" in page
    assert "lost 1,000 of 10,000 events" in page
    assert "without a stack 40.0\xa0% of the value" in page
    assert "Do not rely on it: 40.0\xa0% of the value has no stack" in page
    assert "The allocator is libc.so.6." in page
