"""Numbers and times as words, against the rows that format.js is held to as well."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from tracer.profile import amounts
from webapp.runs.templatetags import numbers

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "view" / "numbers.json").read_text())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['input']} {row['unit']}".strip())
def test_it_writes_numbers_as_the_front_end_does(row: dict[str, Any]) -> None:
    assert text_of(row) == row["text"]


WRITTEN: dict[str, Callable[..., str]] = {
    "duration": numbers.duration,
    "age": numbers.age,
    "share": amounts.percent,
    "whole share": amounts.whole_percent,
    "count": amounts.short_count,
    "of own": lambda sides: amounts.of_own(*sides),
}


def text_of(row: dict[str, Any]) -> str:
    if row["unit"] in WRITTEN:
        return WRITTEN[row["unit"]](row["input"])
    return amounts.change(row["input"], row["unit"]) if row.get("signed") else amounts.value(row["input"], row["unit"])


def test_it_writes_a_dash_for_what_is_not_known() -> None:
    assert [amounts.value(None), amounts.size(None), numbers.duration(None), amounts.grouped(None)] == ["–"] * 4


def test_it_tells_a_time_relatively_and_exactly_in_the_title() -> None:
    moment = timezone.now() - timedelta(minutes=3, seconds=10)

    shown = numbers.ago(moment)

    assert f'title="{moment:%Y-%m-%d %H:%M:%S} UTC"' in shown
    assert ">3\u00a0min\u00a0ago</time>" in shown


def test_it_says_never_for_a_host_that_was_not_heard_of() -> None:
    assert numbers.ago(None) == "never"


def test_it_shows_the_time_of_day_for_today_and_the_date_before() -> None:
    now = timezone.now()

    assert numbers.started(now.isoformat()) == f"{now:%H:%M}"
    assert numbers.started("2020-10-03T08:00:00+00:00") == "3\u00a0Oct\u00a008:00"


def test_it_keeps_a_start_time_that_is_no_date_as_it_came() -> None:
    assert numbers.started("<b>soon</b>") == "<b>soon</b>"
