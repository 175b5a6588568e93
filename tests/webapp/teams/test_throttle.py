"""Guessing passwords: five tries a name, twenty an address, in five minutes."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from webapp.teams import throttle
from webapp.teams.models import SignInTry

REFUSAL = "Too many sign-ins failed, so this one was not tried. Come back in 5 minutes, at "
WRONG = "This name and password do not belong together."


def sign_in(name: str, password: str = "wrong-password", address: str = "192.0.2.1") -> HttpResponse:
    """From a browser that was never here."""
    return Client(REMOTE_ADDR=address).post("/login", {"username": name, "password": password})


def fail(times: int, name: str = "bob", address: str = "192.0.2.1") -> None:
    for _ in range(times):
        assert WRONG in sign_in(name, address=address).content.decode()


def test_after_five_failures_a_name_is_refused_from_anywhere_even_with_the_right_password(story: Any) -> None:
    fail(5)

    response = sign_in("bob", "bob-password", "198.51.100.7")

    assert response.status_code == 429
    assert REFUSAL in response.content.decode()
    assert sign_in("BOB").status_code == 429
    assert sign_in("alice", "alice-password").status_code == 302


def test_the_sentence_says_when_to_come_back(story: Any) -> None:
    fail(5)
    SignInTry.objects.update(at=F("at") - timedelta(minutes=4, seconds=10))

    page = sign_in("bob").content.decode()

    found = re.search(r"Come back in 1 minute, at (\d\d:\d\d:\d\d) UTC\.", page)
    assert found
    assert found[1] == f"{SignInTry.objects.earliest('at').at + throttle.WINDOW + timedelta(seconds=1):%H:%M:%S}"


def test_refused_tries_do_not_prolong_it(story: Any) -> None:
    fail(5)
    for _ in range(3):
        assert sign_in("bob").status_code == 429
    SignInTry.objects.update(at=F("at") - throttle.WINDOW)

    assert sign_in("bob", "bob-password").status_code == 302
    assert not SignInTry.objects.exists()


def test_signing_in_forgets_the_failures_of_that_name(story: Any) -> None:
    fail(4)
    assert sign_in("bob", "bob-password").status_code == 302

    fail(5)
    assert sign_in("bob").status_code == 429


def test_an_address_has_twenty_tries_whatever_the_names(story: Any) -> None:
    for number in range(20):
        fail(1, name=f"user{number}")

    assert sign_in("bob", "bob-password").status_code == 429
    assert sign_in("bob", "bob-password", "192.0.2.2").status_code == 302


def test_a_network_of_ipv6_is_one_address(story: Any) -> None:
    for number in range(20):
        fail(1, name=f"user{number}", address=f"2001:db8::{number + 1:x}")

    assert sign_in("bob", address="2001:db8::ffff:1").status_code == 429
    assert sign_in("bob", address="2001:db8:0:1::1").status_code == 200


def test_names_that_nobody_has_are_answered_alike(story: Any) -> None:
    answers = {}
    for name in ("bob", "nobody"):
        fail(5, name=name)
        SignInTry.objects.update(at=timezone.now())
        answers[name] = sign_in(name)

    pages = [re.sub(r'value="[^"]*"|at [\d:]+ UTC', "", answer.content.decode()) for answer in answers.values()]
    assert pages[0] == pages[1]
    assert [answer.status_code for answer in answers.values()] == [429, 429]


def test_what_was_typed_as_a_name_is_not_kept(story: Any) -> None:
    fail(1, name="my-secret-by-mistake")

    row = SignInTry.objects.get()

    assert "secret" not in row.name and len(row.name) == 64


def test_an_empty_form_is_no_try(story: Any) -> None:
    for _ in range(30):
        assert sign_in("", "").status_code == 200

    assert not SignInTry.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_many_tries_at_once_are_no_way_around_it() -> None:
    passed: list[bool] = []

    def guess() -> None:
        try:
            throttle.begin("bob", "192.0.2.1")
        except throttle.TooManyTries:
            passed.append(False)
        else:
            passed.append(True)
        finally:
            connection.close()

    _all_at_once(guess, times=12)

    assert (len(passed), sum(passed)) == (12, throttle.TRIES_A_NAME)


def _all_at_once(work: Callable[[], None], *, times: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
