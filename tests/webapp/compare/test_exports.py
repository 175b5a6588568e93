"""Downloads of a difference, by page and by API."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tracer import protocol
from tracer.profile.export.diff_forms import DIFF_WRITERS
from tracer.profile.formats import read_profile
from webapp.runs.models import Run

FOLDED = b"main;serve;gone 30 0\nmain;serve;leak 100 500\nmain;serve;new 0 40\n"


def content(response: Any) -> bytes:
    return b"".join(response.streaming_content)


@pytest.fixture
def export(ci: Any, two_runs: tuple[Run, Run]) -> Callable[[str], Any]:
    before, after = two_runs
    return lambda form: ci.get(f"/compare/{before.run_id}/{after.run_id}/export/{form}")


def test_folded_text_has_both_values(export: Callable[[str], Any]) -> None:
    assert content(export("folded")) == FOLDED


def test_normalized_values_before_add_up_to_those_after(export: Callable[[str], Any]) -> None:
    lines = content(export("folded?normalize=1")).decode().splitlines()

    assert sum(float(line.split()[1]) for line in lines) == pytest.approx(540)
    assert "values before times 4.15385" in content(export("svg?normalize=1")).decode()


@pytest.mark.parametrize("form", ["pprof", "json"])
def test_change_comes_first_and_may_be_negative(export: Callable[[str], Any], form: str) -> None:
    raw = content(export(form))

    if form == "json":
        found = json.loads(raw)
        assert [known["name"] for known in found["value_types"]][0] == "outstanding_bytes_change"
        assert sorted(found["values"]) == [[-30, 30, 0], [40, 0, 40], [400, 100, 500]]
    else:
        profile = read_profile(io.BytesIO(raw), resolve=protocol.value_type_named)
        assert profile.values_by_stack["main", "serve", "gone"] == [-30, 30, 0]


def test_speedscope_has_no_negative_numbers_so_growth_and_decrease_are_apart(export: Callable[[str], Any]) -> None:
    profiles = json.loads(content(export("speedscope")))["profiles"]

    names = [profile["name"].partition(":")[0].removeprefix("outstanding_bytes_") for profile in profiles]
    assert dict(zip(names, [profile["endValue"] for profile in profiles], strict=True)) == {
        "after": 540, "before": 130, "grew": 440, "shrank": 30,
    }  # fmt: skip


def test_the_table_has_what_changed_most_first(export: Callable[[str], Any]) -> None:
    assert content(export("csv")).decode().splitlines()[1] == "leak,100,500,400,100,500,400"


def test_another_value_type_and_what_there_is_not(export: Callable[[str], Any]) -> None:
    assert b"gone 60 0" in content(export("folded?value_type=allocated_bytes"))
    assert export("folded?value_type=x").json() == {
        "error": "'x' is not on both sides, there is outstanding_bytes, allocated_bytes."
    }
    assert export("gif").status_code == 404


def test_sides_that_can_not_be_normalized_say_why(
    ci: Any, uploaded_run: Callable[..., Run], two_runs: tuple[Run, Run]
) -> None:
    nothing = uploaded_run(b"# memflame-folded 1\n# values: outstanding_bytes\nmain 0\n")

    answer = ci.get(f"/compare/{nothing.run_id}/{two_runs[1].run_id}/export/folded?normalize=1")

    assert answer.status_code == 422
    assert answer.json()["error"].startswith("The sides were not normalized: totals are 0 before")


def test_the_page_has_a_menu_of_all_forms(
    story: Any, as_user: Callable[[Any], Client], two_runs: tuple[Run, Run]
) -> None:
    before, after = two_runs
    address = f"/compare/{before.run_id}/{after.run_id}"

    page = as_user(story.vera).get(address).content.decode()

    assert all(f"{address}/export/{form}" in page for form in DIFF_WRITERS)
