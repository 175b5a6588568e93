"""The compare page without script: both sides, the finding and the table; merged once, for those who wait for it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from webapp.compare.models import DiffPayload
from webapp.runs.models import Run
from webapp.teams.models import User

AsUser = Callable[[User], Client]
Runs = tuple[Run, Run]
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&"


@pytest.fixture
def source(story: Any, as_user: AsUser) -> Callable[..., str]:
    """The page as the site writes it."""

    def fetch(runs: Runs, query: str = "?plain=1") -> str:
        response = as_user(story.vera).get(f"/compare/{runs[0].run_id}/{runs[1].run_id}{query}")
        assert response.status_code == 200
        return response.content.decode()

    return fetch


def text_of(page: str, part: str) -> str:
    found = re.search(rf'data-part="{part}">(.*?)</(?:p|span|h1)>(?!<span class="v")', page, re.DOTALL)
    assert found
    return html.unescape(re.sub("<[^>]*>", "", found[1]))


def rows(page: str) -> list[list[str]]:
    body = re.search(r'data-part="plain-functions">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    assert body
    lines = re.findall(r"<tr>(.*?)</tr>", body[1], re.DOTALL)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", line, re.DOTALL) for line in lines]
    return [[html.unescape(re.sub("<[^>]*>", "", cell)) for cell in line] for line in cells]


def test_it_has_the_grades_of_both_captures(two_runs: Runs, source: Callable[..., str]) -> None:
    assert "Both captures not known" in source(two_runs)

    two_runs[1].snapshots.update(capture={"events": 5, "lost": {}, "shares": {"unresolved": 0.9}})
    page = source(two_runs)

    assert "Captures not known and D, not reliable" in page
    assert "After is a capture of grade D, not reliable; its run page tells why." in page


def test_it_says_what_changed(two_runs: Runs, source: Callable[..., str]) -> None:
    page = source(two_runs)

    assert text_of(page, "title") == "1.0 against 1.1"
    assert [text_of(page, f"{side}-total") for side in ("before", "after")] == ["130\xa0B", "540\xa0B"]
    assert text_of(page, "before-facts") == ", 1 Nov 00:00, search-api"
    assert text_of(page, "change-parts") == "440\xa0B grew, 30\xa0B shrank"
    assert text_of(page, "finding") == (
        "leak holds 400\xa0B more than before, 98\xa0% of the growth; "
        "1\xa0path is new (+40\xa0B), 1 is gone (−30\xa0B)."
    )
    assert rows(page) == [
        ["leak", "", "100\xa0B", "500\xa0B", "+400\xa0B", "+400\xa0%", "+307.7\xa0%", "+400\xa0B"],
        ["new", "", "–", "40\xa0B", "+40\xa0B", "new", "+30.8\xa0%", "+40\xa0B"],
        ["main", "", "–", "–", "–", "–", "–", "+410\xa0B"],
        ["serve", "", "–", "–", "–", "–", "–", "+410\xa0B"],
        ["gone", "", "30\xa0B", "–", "−30\xa0B", "gone", "−23.1\xa0%", "−30\xa0B"],
    ]
    assert "1–5 of 5 functions. Totals include what a function called" in page


def test_it_merges_only_when_asked_to_or_when_that_was_done_before(two_runs: Runs, source: Callable[..., str]) -> None:
    first = source(two_runs, "")

    assert '<noscript><meta http-equiv="refresh" content="0; url=?t=outstanding_bytes&amp;plain=1"></noscript>' in first
    assert "<tbody></tbody>" in first
    assert not DiffPayload.objects.exists()

    source(two_runs)
    again = source(two_runs, "")

    assert "refresh" not in again
    assert rows(again)[0][0] == "leak"
    assert DiffPayload.objects.count() == 1


def test_another_value_type_is_a_link_away(two_runs: Runs, source: Callable[..., str]) -> None:
    page = source(two_runs)
    assert '<a href="?t=allocated_bytes&amp;plain=1">Allocated bytes</a>' in page

    page = source(two_runs, "?t=allocated_bytes&plain=1")

    assert rows(page)[-1] == ["gone", "", "60\xa0B", "–", "−60\xa0B", "gone", "−37.5\xa0%", "−60\xa0B"]


def test_its_links_keep_the_rules_of_the_address(two_runs: Runs, source: Callable[..., str]) -> None:
    rules = "hashes;~^v%5Cd_~"
    swapped = f"/compare/{two_runs[1].run_id}/{two_runs[0].run_id}"

    first = source(two_runs, f"?{urlencode({'rules': rules})}")
    page = source(two_runs, f"?{urlencode({'rules': rules, 'plain': 1})}")

    quoted = quote(rules, safe="")
    assert f'content="0; url=?t=outstanding_bytes&amp;rules={quoted}&amp;plain=1"' in first
    assert f'<a href="?t=allocated_bytes&amp;rules={quoted}&amp;plain=1">Allocated bytes</a>' in page
    assert f'href="{swapped}?t=outstanding_bytes&amp;rules={quoted}&amp;plain=1"' in page
    assert f'/export/csv?value_type=outstanding_bytes&amp;rules={quoted}"' in page
    assert "by hashes, 1 pattern" in page


def test_a_rule_is_a_link_that_takes_it_or_leaves_it(
    uploaded_run: Callable[..., Run], source: Callable[..., str]
) -> None:
    runs = uploaded_run(b"main;parse::h0123456789abcdef 5\n"), uploaded_run(b"main;parse::hfedcba9876543210 7\n")
    taken = "?t=value&rules=hashes&plain=1"

    page = source(runs)

    assert f'<a href="{html.escape(taken)}">Hashes and suffixes of the compiler</a>' in page
    assert len(rows(page)) == 3
    aligned = source(runs, taken)
    assert [row[0] for row in rows(aligned)] == ["parse", "main"]
    left = html.escape("?t=value&rules=exact&plain=1")
    assert f'<a href="{left}" aria-current="true">Hashes and suffixes of the compiler</a>' in aligned


def test_a_value_type_that_is_not_on_both_sides_is_said(two_runs: Runs, source: Callable[..., str]) -> None:
    page = source(two_runs, "?t=calls&plain=1")

    assert text_of(page, "address-note") == "calls is not on both sides; outstanding_bytes is shown."


def test_a_difference_that_an_older_site_merged_gets_its_table(two_runs: Runs, source: Callable[..., str]) -> None:
    source(two_runs)
    DiffPayload.objects.update(table={})

    assert "refresh" in source(two_runs, "")
    assert rows(source(two_runs))[0][0] == "leak"


def test_what_to_beware_of_is_said(
    two_runs: Runs, uploaded_run: Callable[..., Run], source: Callable[..., str]
) -> None:
    assert "<h3>Both sides are the same snapshot.</h3>" in source((two_runs[0], two_runs[0]))

    other = uploaded_run(b"main 3\n")
    assert "The sides have no value type in common: outstanding_bytes" in source((two_runs[0], other), "")


def test_hostile_names_are_text(uploaded_run: Callable[..., Run], source: Callable[..., str]) -> None:
    runs = uploaded_run(b"main 3\n"), uploaded_run(f"main;{HOSTILE} 7\n".encode(), deploy="<b>1")

    page = source(runs, f"?t={HOSTILE}&plain=1")

    assert "<img" not in page and "<b>1" not in page
    assert rows(page)[0][0] == HOSTILE
    assert text_of(page, "finding").startswith(f"{HOSTILE} holds 7")


def test_a_page_that_was_merged_costs_a_bounded_number_of_queries(
    story: Any, as_user: AsUser, two_runs: Runs, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client, url = as_user(story.alice), f"/compare/{two_runs[0].run_id}/{two_runs[1].run_id}?plain=1"
    client.get(url)

    with django_assert_num_queries(9):  # as without its difference, and the table by itself
        client.get(url)
