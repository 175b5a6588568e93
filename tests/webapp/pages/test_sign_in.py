"""Signing in and out, and where one lands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from webapp.teams.models import User


def sign_in(client: Client, name: str, password: str, **extra: str) -> HttpResponse:
    return client.post("/login", {"username": name, "password": password, **extra})


def test_the_right_password_leads_to_ones_project(story: Any) -> None:
    client = Client()

    response = sign_in(client, "bob", "bob-password")

    assert response["Location"] == "/"
    assert client.get("/")["Location"] == "/p/search-api/"


def test_the_wrong_password_is_told_in_words_and_keeps_the_name(
    story: Any, page_of: Callable[[HttpResponse], Any]
) -> None:
    page = page_of(sign_in(Client(), "bob", "wrong-password"))

    assert "This name and password do not belong together." in page.one("div", role="alert").text
    assert page.one("input", name="username").attributes["value"] == "bob"
    assert "value" not in page.one("input", name="password").attributes


def test_empty_fields_are_named(story: Any, page_of: Callable[[HttpResponse], Any]) -> None:
    page = page_of(sign_in(Client(), "", ""))

    assert "Enter your name." in page.text and "Enter your password." in page.text


def test_it_goes_on_to_the_page_that_was_asked_for(story: Any) -> None:
    client = Client()
    asked = client.get("/p/search-api/hosts")

    assert asked["Location"] == "/login?next=/p/search-api/hosts"
    assert sign_in(client, "bob", "bob-password", next="/p/search-api/hosts")["Location"] == "/p/search-api/hosts"


@pytest.mark.parametrize("target", ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)"])
def test_it_never_goes_on_to_another_site(story: Any, target: str) -> None:
    assert sign_in(Client(), "bob", "bob-password", next=target)["Location"] == "/"


def test_signing_out_is_a_form_and_ends_the_session(story: Any, as_user: Callable[[User], Client]) -> None:
    client = as_user(story.bob)

    by_link = client.get("/logout")
    still_there = client.get("/p/search-api/")
    by_form = client.post("/logout")

    assert by_link.status_code == 405 and still_there.status_code == 200
    assert by_form["Location"] == "/login"
    assert client.get("/p/search-api/").status_code == 302


def test_a_person_without_a_project_is_told_what_to_do(story: Any, get: Callable[..., Any]) -> None:
    page = get(User.objects.create_user("dora"), "/")

    assert "You are in no project yet" in page.text and "add dora" in page.text
    assert page.one("a", class_="primary").attributes["href"] == "/upload"


def test_the_switcher_offers_ones_own_projects_only(story: Any, get: Callable[..., Any]) -> None:
    page = get(story.vera, "/p/search-api/")

    switcher = page.one("details", class_="left")
    assert "Search API" in switcher.text and "Ads" not in switcher.text
