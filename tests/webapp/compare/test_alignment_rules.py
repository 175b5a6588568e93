"""The alignment of a comparison: its report, rules in the address, rules of the project, and the preview."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from webapp.compare.models import DiffPayload
from webapp.runs.models import Run
from webapp.teams.models import User

pytestmark = pytest.mark.django_db

HEAD = b"# memflame-folded 1\n# values: outstanding_bytes\n# capture: {}\n"
BEFORE = HEAD + b"main;parse::h0123456789abcdef 100\nmain;same 50\nmain;gone 7\n"
AFTER = HEAD + b"main;parse::hfedcba9876543210 300\nmain;same 60\n"


@pytest.fixture
def alice(story: Any, as_user: Callable[[User], Client]) -> Client:
    return as_user(story.alice)


@pytest.fixture
def charlie(story: Any, as_user: Callable[[User], Client]) -> Client:
    return as_user(story.charlie)


@pytest.fixture
def address(uploaded_run: Callable[..., Run]) -> str:
    before, after = uploaded_run(BEFORE), uploaded_run(AFTER)
    return f"/api/v1/compare/{before.run_id}/{after.run_id}"


def test_the_report_tells_what_matched_exactly_and_what_did_not(alice: Client, address: str) -> None:
    found = _alignment(alice, address)

    assert (found["exact"], found["normalised"], found["unmatched"]) == ([50, 60], [0, 0], [107, 300])
    assert found["rules"] == "exact"


def test_rules_of_the_address_match_what_differs_in_a_hash(alice: Client, address: str) -> None:
    found = _alignment(alice, address, rules="hashes")

    assert (found["exact"], found["normalised"], found["unmatched"]) == ([50, 60], [100, 300], [7, 0])
    assert found["names"] == 2
    assert DiffPayload.objects.count() == 2


def test_the_payload_of_each_alignment_has_its_own_address(alice: Client, address: str) -> None:
    tags = {alice.get(address, {"rules": rules}).json()["tag"] for rules in ("exact", "hashes", "hashes")}

    assert len(tags) == 2


def test_a_person_saves_rules_for_the_project_and_a_link_can_say_otherwise(alice: Client, address: str) -> None:
    project = Run.objects.latest("pk").project
    assert project is not None

    assert alice.post(f"/p/{project.slug}/compare/alignment", {"rules": "hashes"}).status_code == 204

    assert _alignment(alice, address)["rules"] == "hashes"
    assert _alignment(alice, address, rules="exact")["rules"] == "exact"


def test_strangers_save_nothing(charlie: Client, address: str) -> None:
    project = Run.objects.latest("pk").project
    assert project is not None

    assert charlie.post(f"/p/{project.slug}/compare/alignment", {"rules": "hashes"}).status_code == 404


def test_a_form_that_says_no_rules_changes_nothing(alice: Client, address: str) -> None:
    project = Run.objects.latest("pk").project
    assert project is not None
    where = f"/p/{project.slug}/compare/alignment"
    alice.post(where, {"rules": "hashes"})

    assert alice.post(where, {"rule": "templates"}).status_code == 422
    assert _alignment(alice, address)["rules"] == "hashes"


def test_a_preview_counts_names_and_shows_a_few(alice: Client, address: str) -> None:
    found = alice.get(f"{address}/alignment", {"rules": "hashes"}).json()

    assert found["changed"] == 2
    assert found["only_before"] == [2, 1]
    assert found["examples"][0] == ["parse::h0123456789abcdef", "parse"]
    assert DiffPayload.objects.count() == 0


def test_a_pattern_that_is_none_is_told(alice: Client, address: str) -> None:
    tried = alice.get(f"{address}/alignment", {"rules": "~(a~b"})
    used = alice.get(address, {"rules": "~(a~b"})

    assert (tried.status_code, used.status_code) == (200, 422)
    assert "missing )" in tried.json()["error"] and "missing )" in used.json()["error"]


def _alignment(client: Client, address: str, **query: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(address, query).json()["alignment"]
    return found
