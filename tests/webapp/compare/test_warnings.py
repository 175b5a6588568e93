"""Warnings of a comparison whose sides were counted by other means, on other systems, or of other builds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from webapp.runs.models import Run
from webapp.teams.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def warnings(story: Any, as_user: Callable[[User], Client], two_runs: tuple[Run, Run]) -> Callable[..., list[str]]:
    """Those of two runs with these keys in their captures."""

    def fetch(before: dict[str, object], after: dict[str, object]) -> list[str]:
        for run, capture in zip(two_runs, (before, after), strict=True):
            run.snapshots.update(capture={"collector": "malloc", **capture})
        address = f"/api/v1/compare/{two_runs[0].run_id}/{two_runs[1].run_id}"
        found: list[str] = as_user(story.alice).get(address).json()["warnings"]
        return found

    return fetch


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            {"mode": "exact"},
            {"mode": "sampled", "sample_bytes": 524288},
            "Before follows every block, after follows one block for each 512.0\xa0kB: values are scaled to bytes, yet "
            "small frames of a sampled side may be missing or too large.",
        ),
        (
            {"build_ids": {"libc.so.6": "aa", "shop": "bb"}},
            {"build_ids": {"libc.so.6": "aa", "shop": "cc"}},
            "shop is another build after: places without a name have moved, so they do not match.",
        ),
    ],
)
def test_sides_that_were_counted_otherwise_are_told(
    warnings: Callable[..., list[str]], before: dict[str, object], after: dict[str, object], words: str
) -> None:
    assert words in warnings(before, after)


def test_sides_that_are_alike_have_no_such_warning(warnings: Callable[..., list[str]]) -> None:
    alike = {"mode": "sampled", "sample_bytes": 1 << 20, "build_ids": {"shop": "aa"}}

    assert warnings(alike, alike) == []
