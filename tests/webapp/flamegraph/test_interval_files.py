"""Downloads of an interval: the numbers of a file are those of the interval, in every form, by page and by API."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tracer import protocol
from tracer.profile.export.forms import FORMS
from tracer.profile.formats import read_profile
from webapp.runs.models import Run
from webapp.teams.models import User

HEAD = (
    "# memflame-folded 1\n# values: outstanding_bytes allocated_bytes\n"
    '# capture: {"collector": "malloc", "started_at": "2026-11-29T10:00:00.000+00:00", "elapsed_s": %d}\n'
)
ALLOCATED = {1: (100, 500, 0), 2: (300, 500, 0), 3: (350, 490, 7)}
FIRST_TWO = {("main", "parse"): [200]}


def content(response: Any) -> bytes:
    return b"".join(response.streaming_content)


@pytest.fixture
def run(claimed_run: Callable[..., Run], snapshot_of: Callable[..., Any]) -> Run:
    """Its `parse` allocates 200, then 50, `serve` begins later; the estimate of `load` is 10 less in the end."""
    run = claimed_run(duration_s=30.0)
    for seq, values in ALLOCATED.items():
        lines = [f"main;{name} 10 {value}\n" for name, value in zip(("parse", "load", "serve"), values, strict=True)]
        snapshot_of(run, seq, (HEAD % (10 * seq) + "".join(lines)).encode(), elapsed_s=10.0 * seq)
    return run


@pytest.fixture
def page(story: Any, as_user: Callable[[User], Client], run: Run) -> Callable[[str], Any]:
    return lambda rest: as_user(story.vera).get(f"/runs/{run.run_id}/export/{rest}")


@pytest.mark.parametrize("form", ["folded", "pprof", "speedscope"])
def test_a_file_has_the_stacks_of_the_interval(ci: Any, run: Run, page: Callable[[str], Any], form: str) -> None:
    by_api = content(ci.get(f"/runs/{run.run_id}/intervals/1/2/export/{form}"))

    assert read_profile(io.BytesIO(by_api), resolve=protocol.value_type_named).values_by_stack == FIRST_TWO
    assert content(page(f"2/{form}?from=1&value_type=allocated_bytes")) == by_api


def test_every_form_adds_up_to_the_total_that_the_page_shows(ci: Any, run: Run) -> None:
    address = f"/runs/{run.run_id}/intervals/1/3"
    total = ci.get(address).json()["total"]

    files = {form: content(ci.get(f"{address}/export/{form}")) for form in FORMS}

    assert total == 350 + 490 + 7 - 100 - 500
    assert sum(value for (value,) in json.loads(files["json"])["values"]) == total
    assert sum(int(line.rpartition(b" ")[2]) for line in files["folded"].splitlines()) == total
    profile = read_profile(io.BytesIO(files["pprof"]), resolve=protocol.value_type_named)
    assert sum(values[0] for values in profile.values_by_stack.values()) == total
    assert {row[0]: row[2] for row in csv.reader(files["csv"].decode().splitlines())}["main"] == str(total)
    assert f"{total}\xa0B" in files["svg"].decode()
    graph = json.loads(files["speedscope"])["profiles"][0]
    assert graph["endValue"] == total + 10
    assert "(without -10 in stacks below 0)" in graph["name"]


def test_a_file_says_when_it_was(ci: Any, run: Run) -> None:
    address = f"/runs/{run.run_id}/intervals/1/3/export"

    found = json.loads(content(ci.get(f"{address}/json")))
    picture = ci.get(f"{address}/svg")

    assert found["value_types"][0]["meaning"].endswith(", 0:10 to 0:30")
    assert found["capture"]["elapsed_s"] == 20
    assert found["capture"]["started_at"] == "2026-11-29T10:00:10.000+00:00"
    assert picture["Content-Disposition"] == f'attachment; filename="{run.run_id}-1..3-allocated_bytes.svg"'
    assert "malloc, 0:10 to 0:30" in content(picture).decode()


@pytest.mark.parametrize(
    ("place", "query", "status", "words"),
    [
        ("1/2", "json?value_type=outstanding_bytes", 422, "outstanding_bytes is a level"),
        ("1/2", "html?value_type=outstanding_bytes", 422, "outstanding_bytes is a level"),
        ("2/1", "json", 404, "before it ends"),
        ("1/9", "json", 404, "no snapshot 9"),
        ("1/2", "gif", 404, "There is no form 'gif'"),
        ("1/2", "svg?width=nan", 422, "width is 'nan'"),
    ],
)
def test_what_can_not_be_is_refused_in_words(
    ci: Any, run: Run, place: str, query: str, status: int, words: str
) -> None:
    response = ci.get(f"/runs/{run.run_id}/intervals/{place}/export/{query}")

    assert response.status_code == status
    assert words in response.json()["error"]


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("2/json?from=1&value_type=outstanding_bytes", "outstanding_bytes is a level"),
        ("2/json?from=3", "3 does not come before 2"),
        ("2/json?from=x<i>", "An interval begins at the number of a snapshot, not at 'x<i>'."),
        ("3/html?from=2", "Snapshot 2 of run .* was thinned out"),
        ("2/json", "Snapshot 2 has no file in other forms."),
    ],
)
def test_a_person_reads_why_there_is_no_file(run: Run, page: Callable[[str], Any], rest: str, words: str) -> None:
    snapshot = run.snapshots.get(seq=2)
    is_thin = "thinned" in words or rest == "2/json"
    if is_thin:
        capture = snapshot.capture | {"thinned": "It was thinned."}
        run.snapshots.filter(seq=2).update(tree=f"{snapshot.tree}.thin", capture=capture)

    response = page(rest)

    assert response.status_code == 404
    assert re.search(words, html.unescape(response.content.decode()))
    assert "<i>" not in response.content.decode()


def test_strangers_get_no_file(other_ci: Any, run: Run, story: Any, as_user: Callable[[User], Client]) -> None:
    assert other_ci.get(f"/runs/{run.run_id}/intervals/1/2/export/folded").status_code == 404
    assert as_user(story.charlie).get(f"/runs/{run.run_id}/export/2/folded?from=1").status_code == 404


def test_the_saved_page_holds_both_snapshots_and_each_flow_between_them(ci: Any, run: Run) -> None:
    text = ci.get(f"/runs/{run.run_id}/intervals/1/2/export/html").content.decode()

    found = re.search(r'<script type="application/json" id="offline">(.*?)</script>', text)
    assert found
    answers = json.loads(found[1])["answers"]
    api = f"/api/v1/runs/{run.run_id}"
    assert [each["seq"] for each in answers[api]["json"]["snapshots"]] == [1, 2]
    assert answers[f"{api}/intervals/1/2?value_type=allocated_bytes"]["json"]["total"] == 200
    assert '<meta name="opens-at" content="#v=1&amp;t=allocated_bytes&amp;s=2&amp;from=1' in text
