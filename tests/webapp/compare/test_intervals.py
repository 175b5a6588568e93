"""Sides that are intervals of a run: named, compared, and never of a level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from webapp.compare.models import DiffPayload
from webapp.runs.models import Run
from webapp.teams.models import User

HEAD = '# memflame-folded 1\n# values: outstanding_bytes allocated_bytes\n# capture: {"collector": "malloc"}\n'
ALLOCATED = {1: (100, 0), 2: (300, 0), 3: (350, 1000), 4: (350, 1500)}


@pytest.fixture
def run(claimed_run: Callable[..., Run], snapshot_of: Callable[..., Any]) -> Run:
    """A recording whose `parse` allocated 200 after the first snapshot, and whose `serve` began later."""
    run = claimed_run(duration_s=40.0)
    for seq, (parse, serve) in ALLOCATED.items():
        body = f"{HEAD}main;parse 10 {parse}\nmain;serve 10 {serve}\n"
        snapshot_of(run, seq, body.encode(), elapsed_s=10.0 * seq)
    return run


def test_two_intervals_of_a_flow_compare(ci: Any, run: Run, story: Any, as_user: Callable[[User], Client]) -> None:
    view = ci.get(f"/compare/{run.run_id}@1..2/{run.run_id}@2..4").json()

    assert [row["name"] for row in view["value_types"]] == ["allocated_bytes"]
    assert (view["before"]["total"], view["after"]["total"]) == (200, 1550)
    assert (view["before"]["since"], view["before"]["label"]) == (1, "0:10 to 0:20")
    assert any("before covers 10 s, after 20 s" in words for words in view["warnings"])
    as_user(story.alice).get(f"/compare/{run.run_id}@1..2/{run.run_id}@2..4?plain=1")
    table = DiffPayload.objects.get().table
    assert table["totals"] == [200, 1550]
    assert table["first"] == ["serve", 1500]


def test_an_interval_and_all_until_its_end_are_told_apart(ci: Any, run: Run) -> None:
    totals = [
        ci.get(f"/compare/{run.run_id}@{name}/{run.run_id}@4?value_type=allocated_bytes").json()["before"]["total"]
        for name in ("1..3", "2..3", "3")
    ]

    assert totals == [1250, 1050, 1350]
    assert DiffPayload.objects.count() == 3


@pytest.mark.parametrize(
    ("name", "words"), [("3..2", "before it ends"), ("1..9", "no snapshot 9"), ("1...2", "no run")]
)
def test_an_interval_that_is_not_there_is_named(ci: Any, run: Run, name: str, words: str) -> None:
    response = ci.get(f"/compare/{run.run_id}@{name}/{run.run_id}@4")

    assert response.status_code == 404
    assert words in response.json()["error"]


def test_the_page_and_its_payload_are_there(ci: Any, run: Run, story: Any, as_user: Callable[[User], Any]) -> None:
    client, sides = as_user(story.alice), f"/compare/{run.run_id}@1..2/{run.run_id}@2..4"
    view = ci.get(sides).json()

    page = client.get(f"{sides}?t=allocated_bytes&plain=1").content.decode()
    address = view["payload_url"].format(value_type="allocated_bytes", tag=view["tag"], stage="overview")

    assert "0:10 to 0:20 against 0:20 to 0:40" in page
    assert client.get(address).status_code == 200
