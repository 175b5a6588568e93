"""The page of what pushes to a project."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from webapp.runs.models import Run

ADDRESS = "/p/search-api/pushes"


def test_it_shows_who_pushes_the_budget_and_what_was_not_kept(
    alloy: Any, heap: Any, cpu: bytes, story: Any, as_user: Callable[..., Client],
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:  # fmt: skip
    alloy.push(heap(), service_name="shop", pod="shop-1")
    alloy.push(cpu, kind="process_cpu", service_name="shop", pod="shop-1")
    browser = as_user(story.vera)

    with django_assert_num_queries(9):
        page = browser.get(ADDRESS).content.decode()

    assert f'<a href="/runs/{Run.objects.get().run_id}">' in page
    for words in ("<bdi>shop-1</bdi>", "1 of 100", "1 of 6,000", "<code>process_cpu</code>"):
        assert words in page, words


def test_a_project_that_nobody_pushes_to_says_how(story: Any, as_user: Callable[..., Client]) -> None:
    page = as_user(story.alice).get(ADDRESS).content.decode()

    assert "Nothing was pushed yet" in page
    assert "<code>http://testserver</code>" in page


@pytest.mark.parametrize("name", ["charlie", None])
def test_strangers_do_not_see_it(story: Any, as_user: Callable[..., Client], name: str | None) -> None:
    client = as_user(getattr(story, name)) if name else Client()

    assert client.get(ADDRESS).status_code == (404 if name else 302)


def test_the_run_says_when_it_was_pushed_last(
    alloy: Any, heap: Any, the_run: Any, story: Any, as_user: Callable[..., Client]
) -> None:
    alloy.push(heap(), service_name="shop", pod="shop-1")

    page = as_user(story.alice).get(f"/runs/{the_run().run_id}").content.decode()

    assert "rolling, last push" in page
    assert "1 snapshot</span>" in page
    assert ", pushed at " in page
