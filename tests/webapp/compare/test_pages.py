"""The compare page and picking two runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from webapp.runs.models import Run
from webapp.teams.models import User

AsUser = Callable[[User], Client]
Runs = tuple[Run, Run]


def test_the_page_names_both_sides_and_where_its_data_is(story: Any, as_user: AsUser, two_runs: Runs) -> None:
    before, after = two_runs

    response = as_user(story.vera).get(f"/compare/{before.run_id}/{after.run_id}@1")

    page = response.content.decode()
    assert response.status_code == 200
    assert f"/api/v1/compare/{before.run_id}/{after.run_id}@1" in page
    assert f'href="/compare/{after.run_id}@1/{before.run_id}"' in page


def test_strangers_get_404_and_the_signed_out_the_login_page(story: Any, as_user: AsUser, two_runs: Runs) -> None:
    url = f"/compare/{two_runs[0].run_id}/{two_runs[1].run_id}"

    assert as_user(story.charlie).get(url).status_code == 404
    assert Client().get(url)["Location"].startswith("/login")


def test_one_side_that_is_not_visible_is_enough_for_404(
    story: Any, as_user: AsUser, two_runs: Runs, uploaded_run: Callable[..., Run]
) -> None:
    others = uploaded_run(project=story.ads)

    assert as_user(story.bob).get(f"/compare/{two_runs[0].run_id}/{others.run_id}").status_code == 404


def test_the_page_costs_a_bounded_number_of_queries(
    story: Any, as_user: AsUser, two_runs: Runs, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client = as_user(story.alice)

    with django_assert_num_queries(8):  # session, user, 2 x (run, snapshot), difference, projects
        client.get(f"/compare/{two_runs[0].run_id}/{two_runs[1].run_id}")


def test_two_ticked_runs_are_compared_in_order_of_time(story: Any, as_user: AsUser, two_runs: Runs) -> None:
    before, after = two_runs

    response = as_user(story.vera).get(f"/p/search-api/compare?run={after.run_id}&run={before.run_id}")

    assert response["Location"] == f"/compare/{before.run_id}/{after.run_id}"


def test_one_ticked_run_is_offered_a_partner(story: Any, as_user: AsUser, two_runs: Runs) -> None:
    response = as_user(story.vera).get(f"/p/search-api/compare?run={two_runs[0].run_id}")

    assert response.context["before"] == two_runs[0].run_id
    assert "A comparison has two sides" in response.content.decode()


def test_picked_sides_keep_their_order(story: Any, as_user: AsUser, two_runs: Runs) -> None:
    before, after = two_runs

    response = as_user(story.vera).get(f"/p/search-api/compare?before={after.run_id}&after={before.run_id}&go=1")

    assert response["Location"] == f"/compare/{after.run_id}/{before.run_id}"


def test_coming_from_a_run_preselects_it(story: Any, as_user: AsUser, two_runs: Runs) -> None:
    response = as_user(story.vera).get(f"/p/search-api/compare?before={two_runs[0].run_id}@1")

    assert response.context["before"] == two_runs[0].run_id
    assert response.context["error"] == ""
    assert {run.run_id for run in response.context["runs"]} == {run.run_id for run in two_runs}


@pytest.mark.parametrize("query", ["run=r-nowhere&run=x", "before=a/b&after=c&go=1", "before={run}&after={run}&go=1"])
def test_what_cannot_be_compared_stays_on_the_list(story: Any, as_user: AsUser, two_runs: Runs, query: str) -> None:
    response = as_user(story.vera).get(f"/p/search-api/compare?{query.format(run=two_runs[0].run_id)}")

    assert response.status_code == 200
    assert "A comparison has two sides" in response.content.decode()


def test_another_teams_list_is_404(story: Any, as_user: AsUser) -> None:
    assert as_user(story.charlie).get("/p/search-api/compare").status_code == 404


def test_the_list_costs_a_bounded_number_of_queries(
    story: Any, as_user: AsUser, two_runs: Runs, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client = as_user(story.alice)

    with django_assert_num_queries(6):  # session, user, project, known sides, runs, projects
        client.get("/p/search-api/compare")
