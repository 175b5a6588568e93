"""Intervals of flows on the run page without script: links to them, their tables, and what is none."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from webapp.flamegraph.models import IntervalPayload
from webapp.runs.models import Run
from webapp.teams.models import User

HEAD = '# memflame-folded 1\n# values: outstanding_bytes allocated_bytes\n# capture: {"collector": "malloc"}\n'
ALLOCATED = {1: (100, 500), 2: (300, 500), 3: (350, 490)}


@pytest.fixture
def run(claimed_run: Callable[..., Run], snapshot_of: Callable[..., Any]) -> Run:
    """Its `parse` allocates 200, then 50; the estimate of `load` is 10 less in the last snapshot."""
    run = claimed_run(duration_s=30.0)
    for seq, (parse, load) in ALLOCATED.items():
        snapshot_of(run, seq, f"{HEAD}main;parse 10 {parse}\nmain;load 10 {load}\n".encode(), elapsed_s=10.0 * seq)
    return run


@pytest.fixture
def source(story: Any, as_user: Callable[[User], Client], run: Run) -> Callable[[str], str]:
    """The page as the site writes it."""
    return lambda query: as_user(story.vera).get(f"/runs/{run.run_id}{query}").content.decode()


def links(page: str, label: str) -> list[tuple[str, str]]:
    nav = re.search(rf'<nav class="seg grow" aria-label="{label}">(.*?)</nav>', page, re.DOTALL)
    return (
        [(html.unescape(href), title) for href, title in re.findall(r'<a href="([^"]*)"[^>]*>([^<]*)', nav[1])]
        if nav
        else []
    )


def functions(page: str) -> list[list[str]]:
    """Name and self value of each row."""
    lines = re.findall(r'<tr><td class="fn"[^>]*>([^<]*)</td><td class="n">([^<]*)</td>', page)
    return [[name, html.unescape(own)] for name, own in lines]


def test_a_flow_has_links_to_where_its_interval_begins(source: Callable[[str], str]) -> None:
    page = source("?t=allocated_bytes")

    assert links(page, "Since") == [
        ("?t=allocated_bytes&s=3", "the run began"),
        ("?t=allocated_bytes&s=3&from=1&plain=1", "0:10"),
        ("?t=allocated_bytes&s=3&from=2&plain=1", "0:20"),
    ]
    assert links(source("?t=outstanding_bytes"), "Since") == []
    assert links(source("?t=allocated_bytes&s=1"), "Since") == []


def test_its_table_has_what_happened_in_it(run: Run, source: Callable[[str], str]) -> None:
    page = source("?t=allocated_bytes&s=2&from=1&plain=1")

    assert functions(page) == [["parse", "200\xa0B"], ["main", "0\xa0B"]]
    assert ", 0:10 to 0:20." in page
    assert "/interval/1/2/allocated_bytes/" in page
    assert 'data-part="leftover"></p>' in page
    assert f'/runs/{run.run_id}/export/2/csv?value_type=allocated_bytes&amp;from=1"' in page


def test_links_of_an_interval_keep_its_begin_where_they_can(source: Callable[[str], str]) -> None:
    page = source("?t=allocated_bytes&s=2&from=1&plain=1&sort=-total")

    assert links(page, "Snapshot") == [
        ("?t=allocated_bytes&s=1&sort=-total", "0:10"),
        ("?t=allocated_bytes&s=2&from=1&sort=-total&plain=1", "0:20"),
        ("?t=allocated_bytes&s=3&from=1&sort=-total&plain=1", "0:30"),
    ]
    assert ("?t=allocated_bytes&s=2&from=1&plain=1", "Self") in re.findall(
        r'<a class="sort" href="([^"]*)">([^<]*)', html.unescape(page)
    )


def test_what_is_below_zero_is_told(source: Callable[[str], str]) -> None:
    page = source("?t=allocated_bytes&s=3&from=2&plain=1")

    assert functions(page)[-1] == ["load", "−10\xa0B"]
    assert "1\xa0frame is below zero, −10\xa0B in all" in page


def test_it_is_made_only_for_who_waits_for_it(source: Callable[[str], str]) -> None:
    query = "?t=allocated_bytes&s=2&from=1"
    refresh = '<noscript><meta http-equiv="refresh" content="0; url='

    first = source(query)
    assert f"{refresh}{html.escape(query)}&amp;plain=1" in first
    assert functions(first) == []
    assert not IntervalPayload.objects.exists()

    source(f"{query}&plain=1")
    again = source(query)
    assert refresh not in again
    assert functions(again)[0] == ["parse", "200\xa0B"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from=9", "Snapshot 9 of the link, where an interval begins, is not in this run; all until its end is shown."),
        ("from=1", "Snapshot 1 of run .* was thinned out.* All until its end is shown."),
    ],
)
def test_what_is_no_interval_is_said_and_all_until_its_end_is_shown(
    run: Run, source: Callable[[str], str], query: str, words: str
) -> None:
    run.snapshots.filter(seq=1).update(tree=f"{run.snapshots.get(seq=1).tree}.thin")

    page = source(f"?t=allocated_bytes&s=3&{query}&plain=1")

    note = re.search(r'data-part="address-note">(.*?)</p>', page)
    assert note and re.fullmatch(words, note[1])
    assert functions(page)[0] == ["load", "490\xa0B"]


def test_a_level_and_an_interval_the_wrong_way_round_are_shown_as_they_are(source: Callable[[str], str]) -> None:
    assert functions(source("?t=outstanding_bytes&s=3&from=1&plain=1"))[0][1] == "10\xa0B"
    assert functions(source("?t=allocated_bytes&s=1&from=3&plain=1"))[0] == ["load", "500\xa0B"]


def test_what_each_push_counted_by_itself_begins_with_the_one_before(run: Run, source: Callable[[str], str]) -> None:
    for snapshot in run.snapshots.all():
        snapshot.capture = snapshot.capture | {"interval_s": 10}
        snapshot.save(update_fields=["capture"])

    assert links(source("?t=allocated_bytes"), "Since")[0] == ("?t=allocated_bytes&s=3", "the one before")
    assert functions(source("?t=allocated_bytes&s=3&from=1&plain=1"))[0] == ["load", "990\xa0B"]
