"""Tokens: shown once, hashed at rest, bound to their project, gone when revoked."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

from django.utils import timezone

from webapp.hosts.models import Host
from webapp.teams.models import ApiToken


def test_a_token_is_not_in_the_database(story: Any) -> None:
    row = ApiToken.find(story.token)

    assert row is not None
    stored = [str(value) for value in ApiToken.objects.values_list().get(pk=row.pk)]
    assert story.token not in stored
    assert story.token.rsplit("_", 1)[1] not in "".join(stored)
    assert hashlib.sha256(story.token.encode()).hexdigest() in stored


def test_an_agents_token_is_not_in_the_database(story: Any) -> None:
    stored = [str(value) for value in Host.objects.values_list().get(pk=story.host.pk)]

    assert story.host_token not in stored
    assert hashlib.sha256(story.host_token.encode()).hexdigest() in stored


def test_a_token_with_one_other_letter_is_unknown(story: Any) -> None:
    last = "b" if story.token.endswith("a") else "a"

    assert ApiToken.find(story.token[:-1] + last) is None
    assert ApiToken.find("") is None
    assert ApiToken.find("mfp_") is None


def test_a_revoked_token_is_unknown_at_once(story: Any, ci: Any) -> None:
    assert ci.get("/projects/search-api/runs").status_code == 200

    ApiToken.objects.update(revoked_at=timezone.now())

    answer = ci.get("/projects/search-api/runs")
    assert answer.status_code == 401
    assert answer.json()["error"].startswith("The token is not known, or it was revoked.")


def test_a_token_opens_its_own_project_only(ci: Any, other_ci: Any) -> None:
    assert ci.get("/projects/search-api/runs").status_code == 200
    assert other_ci.get("/projects/search-api/runs").status_code == 404


def test_its_last_use_is_noted_at_most_once_a_minute(story: Any, ci: Any) -> None:
    ci.get("/projects/search-api/runs")
    first = ApiToken.objects.get(project=story.search).last_used_at
    ci.get("/projects/search-api/runs")
    assert first is not None
    assert ApiToken.objects.get(project=story.search).last_used_at == first

    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    ci.get("/projects/search-api/runs")

    assert ApiToken.objects.get(project=story.search).last_used_at >= first


def test_an_agents_token_is_no_projects_token(story: Any, agent: Any) -> None:
    assert agent.get("/projects/search-api/runs").status_code == 401
