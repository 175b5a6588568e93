"""Project settings: tokens that are shown once, and members whom owners manage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from webapp.teams.models import ApiToken, Membership, ProjectMembership, Role, User

SETTINGS = "/p/search-api/settings"


@pytest.fixture
def post(
    story: Any, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> Callable[..., tuple[HttpResponse, Any]]:
    """Send a form of the page; the response, and the page that a browser ends on."""

    def send(user: User, action: str, **fields: str) -> tuple[HttpResponse, Any]:
        client = as_user(user)
        response = client.post(SETTINGS, {"action": action, **fields})
        return response, page_of(client.get(SETTINGS) if response.status_code == 302 else response)

    return send


def test_a_token_is_shown_once_and_works(story: Any, post: Callable[..., Any], get: Callable[..., Any]) -> None:
    response, page = post(story.alice, "create_token", name="CI of search")

    token = page.all("code", class_="secret")[0].text
    found = ApiToken.find(token)
    assert found is not None and (found.project, found.name, found.created_by) == (
        story.search,
        "CI of search",
        story.alice,
    )
    assert "no-store" in response["Cache-Control"]
    again = get(story.alice, SETTINGS)
    assert token not in again.text and "CI of search" in again.text


def test_only_a_hash_of_the_token_is_kept(story: Any, post: Callable[..., Any]) -> None:
    _, page = post(story.alice, "create_token", name="CI")

    secret = page.all("code", class_="secret")[0].text.rpartition("_")[2]
    row = ApiToken.objects.latest("created_at")
    assert secret not in " ".join(str(getattr(row, field.name)) for field in row._meta.fields)


def test_a_token_needs_a_name(story: Any, post: Callable[..., Any]) -> None:
    response, page = post(story.alice, "create_token", name=" ")

    assert response.status_code == 422
    assert "Say what the token is for" in page.text


def test_a_revoked_token_is_refused_and_leaves_the_list(
    story: Any, post: Callable[..., Any], get: Callable[..., Any]
) -> None:
    key = get(story.alice, SETTINGS).one("input", name="key").attributes["value"]

    _, page = post(story.alice, "revoke_token", key=key)

    assert ApiToken.find(story.token) is None
    assert "The token “ci” is revoked." in page.text and "No token yet." in page.text


def test_the_token_of_another_project_is_not_there(story: Any, post: Callable[..., Any]) -> None:
    other = story.ads.tokens.get()

    response, _ = post(story.alice, "revoke_token", key=other.key)

    assert response.status_code == 404
    assert ApiToken.find(story.other_token) is not None


@pytest.mark.parametrize("action", ["create_token", "revoke_token", "add_member", "change_member", "remove_member"])
def test_only_owners_change_anything(
    action: str, story: Any, post: Callable[..., Any], get: Callable[..., Any]
) -> None:
    responses = [
        post(user, action, name="x", username="vera", role="owner", scope="project")[0]
        for user in (story.bob, story.vera)
    ]

    assert [response.status_code for response in responses] == [403, 403]
    assert [form for form in get(story.bob, SETTINGS).all("form") if form.attributes.get("action") != "/logout"] == []


def test_an_unknown_action_is_not_there(story: Any, post: Callable[..., Any]) -> None:
    assert post(story.alice, "drop_project")[0].status_code == 404


def test_it_lists_who_has_which_role_and_where(story: Any, get: Callable[..., Any]) -> None:
    text = get(story.vera, f"{SETTINGS}").one("section", id="members").text

    names = [name for name in ("alice", "bob", "vera") if name in text]
    assert names == ["alice", "bob", "vera"] and "charlie" not in text
    assert "all projects of Search" in text and "this project" in text


def test_an_owner_adds_a_member_of_this_project(story: Any, post: Callable[..., Any]) -> None:
    post(story.alice, "add_member", username="charlie", role="member", scope="project")

    assert story.search.role_of(story.charlie) == Role.MEMBER
    assert not Membership.objects.filter(team=story.search.team, user=story.charlie).exists()


def test_an_owner_of_the_team_adds_a_member_of_all_its_projects(story: Any, post: Callable[..., Any]) -> None:
    post(story.alice, "add_member", username="charlie", role="viewer", scope="team")

    assert Membership.objects.get(team=story.search.team, user=story.charlie).role == Role.VIEWER


def test_a_name_that_is_no_user_is_told_and_kept(story: Any, post: Callable[..., Any]) -> None:
    response, page = post(story.alice, "add_member", username="Charlie", role="member", scope="project")

    assert response.status_code == 422
    assert "This site has no user “Charlie”." in page.text
    assert page.all("input", name="username")[-1].attributes["value"] == "Charlie"


def test_an_owner_changes_a_role_and_removes_a_member(story: Any, post: Callable[..., Any]) -> None:
    post(story.alice, "change_member", username="vera", role="member", scope="project")
    assert story.search.role_of(story.vera) == Role.MEMBER

    post(story.alice, "remove_member", username="vera", scope="project")
    assert story.search.role_of(story.vera) is None


def test_an_owner_of_the_project_alone_cannot_change_the_team(story: Any, post: Callable[..., Any]) -> None:
    ProjectMembership.objects.filter(user=story.vera).update(role=Role.OWNER)

    _, page = post(story.vera, "change_member", username="bob", role="owner", scope="team")

    assert "Only an owner of the team Search changes roles in all of its projects." in page.text
    assert Membership.objects.get(user=story.bob).role == Role.MEMBER


@pytest.mark.parametrize(("action", "role"), [("change_member", "viewer"), ("remove_member", "")])
def test_a_team_never_loses_its_last_owner(action: str, role: str, story: Any, post: Callable[..., Any]) -> None:
    _, page = post(story.alice, action, username="alice", role=role, scope="team")

    assert "Search needs an owner" in page.one("div", class_="bad").text
    assert story.search.role_of(story.alice) == Role.OWNER


def test_who_leaves_a_project_lands_at_home(story: Any, post: Callable[..., Any]) -> None:
    ProjectMembership.objects.filter(user=story.vera).update(role=Role.OWNER)

    response, _ = post(story.vera, "remove_member", username="vera", scope="project")

    assert response["Location"] == "/"
