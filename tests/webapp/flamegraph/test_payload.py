"""Payloads over HTTP: stored bytes, cached for ever, for those who may see the run."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from webapp.runs.models import Payload, Run
from webapp.teams.models import User

AsUser = Callable[[User], Client]
NAMES = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(5000)]  # which take more than 60 kB
MANY = "".join(f"main;many;{name} 1\n" for name in NAMES).encode() + b"main;big 10000000\n"


def address(run: Run, value_type: str, stage: str = "overview", seq: int = 1) -> str:
    row = Payload.objects.get(snapshot__run=run, snapshot__seq=seq, value_type=value_type)
    return f"/runs/{run.run_id}/payload/{seq}/{value_type}/{row.tag}/{stage}"


def fetch(client: Client, url: str, encoding: str = "gzip, br", **headers: str) -> HttpResponse:
    return client.get(url, headers={"Accept-Encoding": encoding, **headers})


def test_it_is_sent_compressed_and_cached_for_ever(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    response = fetch(as_user(story.alice), address(uploaded_run(), "outstanding_bytes"))

    assert response.status_code == 200
    assert gzip.decompress(response.content).startswith(b"FGB2")
    assert response["Content-Encoding"] == "gzip"
    assert response["Cache-Control"] == "private, max-age=31536000, immutable"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Type"] == "application/octet-stream"
    assert "Accept-Encoding" in response["Vary"]


@pytest.mark.parametrize("encoding", ["", "br", "gzip;q=0", "identity"])
def test_it_is_sent_inflated_to_clients_without_gzip(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run], encoding: str
) -> None:
    response = fetch(as_user(story.alice), address(uploaded_run(), "outstanding_bytes"), encoding)

    assert response.content.startswith(b"FGB2")
    assert "Content-Encoding" not in response


def test_a_client_that_has_it_is_told_so(story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]) -> None:
    client, url = as_user(story.alice), address(uploaded_run(), "outstanding_bytes")
    etag = fetch(client, url)["ETag"]

    again = fetch(client, url, **{"If-None-Match": etag})

    assert again.status_code == 304
    assert again["ETag"] == etag
    assert again.content == b""


def test_the_full_stage_holds_what_the_overview_pruned(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    run, client = uploaded_run(MANY), as_user(story.alice)

    overview, full = (fetch(client, address(run, "value", stage)) for stage in ("overview", "full"))

    assert len(gzip.decompress(overview.content)) < 2000
    assert f"\0{NAMES[-1]}".encode() in gzip.decompress(full.content)
    assert overview["ETag"] != full["ETag"]


def test_a_value_type_may_be_named_like_an_address(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    run = uploaded_run(b"# memflame-folded 1\n# values: a/b:c%d\nmain 1\n")

    response = fetch(as_user(story.alice), address(run, "a/b:c%d").replace("a/b:c%d", "a%2Fb%3Ac%25d"))

    assert response.status_code == 200


def test_strangers_get_404_and_the_signed_out_403(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    url = address(uploaded_run(), "outstanding_bytes")

    assert fetch(as_user(story.charlie), url).status_code == 404
    assert fetch(Client(), url).status_code == 403


@pytest.mark.parametrize("part", ["tag", "stage", "seq", "value type"])
def test_what_does_not_exist_is_404(story: Any, as_user: AsUser, uploaded_run: Callable[..., Run], part: str) -> None:
    run = uploaded_run()
    url = address(run, "outstanding_bytes")
    wrong = {
        "tag": url.replace("/1-", "/2-"),
        "stage": url.replace("overview", "picture"),
        "seq": url.replace("/payload/1/", "/payload/9/"),
        "value type": url.replace("outstanding_bytes", "calls"),
    }[part]

    assert fetch(as_user(story.alice), wrong).status_code == 404


def test_it_costs_a_bounded_number_of_queries(
    story: Any,
    as_user: AsUser,
    uploaded_run: Callable[..., Run],
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    client, url = as_user(story.alice), address(uploaded_run(), "outstanding_bytes")

    with django_assert_num_queries(3):  # session, user, the payload of a run that may be seen
        fetch(client, url)
