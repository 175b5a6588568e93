"""Sides whose numbers can't be taken from each other: refused in words by API, page and downloads."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.profile.made_files import pprof
from webapp.runs.models import Run
from webapp.teams.models import User

UNITS = "inuse_space is in bytes before and in kilobytes after: one can't be taken from the other."
RATES = "samples counts samples, one every 1 milliseconds of cpu before and every 10 milliseconds of cpu after"


@pytest.fixture
def in_other_units(uploaded_run: Callable[..., Run]) -> str:
    runs = [uploaded_run(pprof(["main"], counts=("inuse_space", unit))) for unit in ("bytes", "kilobytes")]
    return f"/compare/{runs[0].run_id}/{runs[1].run_id}"


@pytest.fixture
def at_other_rates(uploaded_run: Callable[..., Run]) -> str:
    """One load, which took 100 ms, sampled ten times more often before."""
    runs = [
        uploaded_run(pprof(["main", "work"], 100 // ms, counts=("samples", "count"), period_ms=ms)) for ms in (1, 10)
    ]
    return f"/compare/{runs[0].run_id}/{runs[1].run_id}"


@pytest.fixture
def alice(story: Any, as_user: Callable[[User], Client]) -> Client:
    return as_user(story.alice)


def test_the_api_refuses_other_units(ci: Any, in_other_units: str) -> None:
    for form in ("", "/export/csv", "/export/html", "/export/csv?normalize=1"):
        response = ci.get(in_other_units + form)

        assert response.status_code == (404 if form else 422)
        assert response.json()["error"] == UNITS


def test_the_page_refuses_other_units(alice: Client, in_other_units: str) -> None:
    page = html.unescape(alice.get(in_other_units).content.decode())

    assert page.count(UNITS) == 1
    assert "Pick others" in page
    for what in ("data-form=", "compare-page.js", 'data-part="graph"', 'as="fetch"'):
        assert what not in page


def test_samples_of_other_rates_are_no_change_of_the_load(ci: Any, at_other_rates: str) -> None:
    response = ci.get(at_other_rates)

    assert response.status_code == 422
    assert response.json()["error"].startswith(RATES)
    assert ci.get(f"{at_other_rates}/export/folded").status_code == 404


def test_scaled_they_compare(ci: Any, at_other_rates: str) -> None:
    response = ci.get(f"{at_other_rates}/export/folded?normalize=1")

    assert b"".join(response.streaming_content) == b"main;work 10 10\n"


def test_others_that_both_have_are_compared_and_the_page_says_what_is_not(
    ci: Any, alice: Client, in_other_units: str, uploaded_run: Callable[..., Run]
) -> None:
    body = b"# memflame-folded 1\n# values: calls heap_bytes\nmain 3 4\n"
    before, after = uploaded_run(body), uploaded_run(body)
    snapshot = after.snapshots.get()
    snapshot.value_types[0]["unit"] = "pages"
    snapshot.save(update_fields=["value_types"])
    address = f"/compare/{before.run_id}/{after.run_id}"

    view = ci.get(f"{address}?value_type=calls").json()

    assert view["value_type"] == "heap_bytes"
    assert view["warnings"][:2] == [
        "calls can't be compared; heap_bytes is shown.",
        "calls is in calls before and in pages after: one can't be taken from the other.",
    ]
    page = html.unescape(alice.get(f"{address}?t=calls").content.decode())
    assert "calls can't be compared; heap_bytes is shown." in page
    assert ci.get(f"{address}/export/csv?value_type=calls").json()["error"] == (
        "calls can't be compared, there is heap_bytes. calls is in calls before and in pages after: one can't be taken "
        "from the other."
    )
