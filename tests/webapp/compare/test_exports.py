"""Downloads of a difference, by page and by API."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

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


BUILT_AGAIN = [
    b"# memflame-folded 1\n# values: outstanding_bytes\nmain;parse::h0123456789abcdef 100\nmain;v1_load 7\n",
    b"# memflame-folded 1\n# values: outstanding_bytes\nmain;parse::hfedcba9876543210 300\nmain;v2_load 9\n",
]
RULES = "hashes;~^v%5Cd_~"


@pytest.fixture
def built_again(uploaded_run: Callable[..., Run]) -> tuple[Run, Run]:
    """The same two functions under other names."""
    before, after = (uploaded_run(body) for body in BUILT_AGAIN)
    return before, after


@pytest.mark.parametrize("form", DIFF_WRITERS)
@pytest.mark.parametrize("client", ["api", "page"])
def test_a_rule_that_joins_two_names_joins_them_in_every_form(
    ci: Any, story: Any, as_user: Callable[[Any], Client], built_again: tuple[Run, Run], client: str, form: str
) -> None:
    asks = ci if client == "api" else as_user(story.vera)
    address = f"/compare/{built_again[0].run_id}/{built_again[1].run_id}/export/{form}"

    apart, joined = (content(asks.get(f"{address}?{urlencode({'rules': rules})}")) for rules in ("exact", RULES))

    texts = [(gzip.decompress(raw) if form == "pprof" else raw).decode(errors="replace") for raw in (apart, joined)]
    assert [text.count("::h") > 0 for text in texts] == [True, False]
    assert [text.count("v1_load") > 0 for text in texts] == [True, False]
    assert "parse" in texts[1] and "load" in texts[1]


def test_joined_names_have_the_values_of_both_sides(ci: Any, built_again: tuple[Run, Run]) -> None:
    address = f"/compare/{built_again[0].run_id}/{built_again[1].run_id}/export"
    rules = urlencode({"rules": RULES})

    assert content(ci.get(f"{address}/folded?{rules}")) == b"main;load 7 9\nmain;parse 100 300\n"
    assert content(ci.get(f"{address}/csv?{rules}")).decode().splitlines()[1:3] == [
        "parse,100,300,200,100,300,200",
        "load,7,9,2,7,9,2",
    ]
    meaning = json.loads(content(ci.get(f"{address}/json?{rules}&normalize=1")))["value_types"][0]["meaning"]
    assert meaning.endswith("after minus before (names aligned by hashes, 1 pattern; values before times 2.88785)")


def test_without_a_word_the_rules_of_the_project_hold(
    ci: Any, story: Any, as_user: Callable[[Any], Client], built_again: tuple[Run, Run]
) -> None:
    project = built_again[0].project
    assert project is not None
    as_user(story.alice).post(f"/p/{project.slug}/compare/alignment", {"rules": RULES})
    address = f"/compare/{built_again[0].run_id}/{built_again[1].run_id}/export/folded"

    assert b"main;parse 100 300" in content(ci.get(address))
    assert b"main;parse::h0123456789abcdef 100 0" in content(ci.get(f"{address}?rules=exact"))
    assert ci.get(f"{address}?rules=hash").json()["error"].startswith("There is no rule 'hash'")


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
        "error": "x is not on both sides, there is outstanding_bytes, allocated_bytes."
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
