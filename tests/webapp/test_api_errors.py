"""The API's errors: always JSON with one sentence, whatever went wrong and wherever."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from webapp.runs import uploads
from webapp.runs.models import Run


def test_an_address_that_does_not_exist(client: Client, db: None) -> None:
    answer = client.get("/api/v1/nothing/here")

    assert answer.status_code == 404
    assert answer.json() == {"error": "There is nothing at /api/v1/nothing/here."}


def test_a_method_that_is_not_there(ci: Any) -> None:
    assert ci.send("/agent/heartbeat", b"", method="DELETE").status_code == 405


def test_a_parameter_that_is_no_number(ci: Any) -> None:
    answer = ci.get("/projects/search-api/runs?size=many")

    assert answer.status_code == 422
    assert answer.json()["error"].startswith("size: Input should be a valid integer")


def test_a_filter_that_can_not_be_read(ci: Any) -> None:
    answer = ci.get("/projects/search-api/runs?since=soon")

    assert answer.status_code == 422
    assert answer.json() == {"error": "since is 'soon', it must be a day such as 2026-11-29."}


def test_a_body_that_is_no_json(agent: Any) -> None:
    answer = agent.send("/agent/heartbeat", b"{nonsense")

    assert answer.status_code == 400
    assert answer.json() == {"error": "Cannot parse request body"}


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (OperationalError("database is locked"), 503, "The database does not answer; try again."),
        (OSError(errno.ENOSPC, "No space left on device"), 507, "The site's disk is full; nothing was stored."),
        (OSError(errno.EIO, "Input/output error"), 500, "The site's storage failed; its log tells why."),
        (RuntimeError("a fault of ours, with a secret"), 500, "The site failed; its log tells why."),
    ],
)
def test_a_failure_of_the_site_says_what_to_do_and_no_secret(
    ci: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, sentence: str
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise error

    monkeypatch.setattr(uploads, "keep_upload", fail)

    answer = ci.send("/projects/search-api/uploads", b"main 1\n")

    assert (answer.status_code, answer.json()) == (status, {"error": sentence})
    assert answer.get("Retry-After") == ("2" if status == 503 else None)
    assert not Run.objects.exists()


def test_a_page_that_does_not_exist_is_a_page(client: Client, db: None) -> None:
    answer = client.get("/nothing/here")

    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("text/html")


def test_the_description_lists_every_route_with_its_token(client: Client) -> None:
    schema = client.get("/api/openapi.json").json()

    operations = [
        (method, path, operation) for path, methods in schema["paths"].items() for method, operation in methods.items()
    ]
    assert ("put", "/api/v1/runs/{run_id}/snapshots/{seq}") in [(method, path) for method, path, _ in operations]
    assert all(operation["summary"] and operation["security"] for _, _, operation in operations)


def test_nothing_of_ninjas_own_documents_is_served(client: Client, db: None) -> None:
    assert client.get("/api/v1/docs").status_code == 404
    assert client.get("/api/v1/openapi.json").status_code == 404


def test_answers_of_other_hosts_pages_are_not_allowed(ci: Any, recorded_run: Callable[..., Run]) -> None:
    answer = ci.get(f"/runs/{recorded_run().run_id}")

    assert "Access-Control-Allow-Origin" not in answer.headers
    assert answer["X-Content-Type-Options"] == "nosniff"
