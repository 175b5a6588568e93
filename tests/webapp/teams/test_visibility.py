"""Every address of the site, by who asks: what is another team's answers as if it were not there.

The rows are compared with the URL map: an address without a row fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from webapp.runs import estimates
from webapp.runs.models import Run

OUTSIDERS = ("charlie", "nobody", "other token", "other agent")
INSIDERS = ("vera", "bob", "alice", "token", "agent")  # those who may do least come first: some rows change the run
ASKERS = (*OUTSIDERS, *INSIDERS)


@dataclass(frozen=True, slots=True)
class Row:
    """What an address answers to each of ASKERS. A page takes no token, so that a token is nobody there."""

    path: str
    answers: str
    method: str = "GET"
    body: bytes = b""
    content_type: str = "application/octet-stream"


JSON, FORM = "application/json", "application/x-www-form-urlencoded"
ATTEMPT = b'{"attempt": "attempt-0002", "phase": "recording", "outcome": "done", "snapshots": 1}'
#                  charlie nobody otok oagent | vera bob alice token agent
PUBLIC = "          200     200    200  200      200  200 200   200   200"
PAGE = "            404     302    302  302      200  200 200   302   302"
MEMBER_PAGE = "     404     302    302  302      403  200 200   302   302"
API = "             404     401    404  401      200  200 200   200   401"
PAYLOAD = "         404     403    403  403      200  200 200   403   403"  # fetched by script: no way to the login
AGENT_ONLY = "      401     401    401  404      401  401 401   401   409"

ROWS: dict[str, Row] = {
    "livez": Row("/livez", PUBLIC),
    "readyz": Row("/readyz", PUBLIC.replace("200", "503")),  # no worker runs here
    "api/openapi.json": Row("/api/openapi.json", PUBLIC),
    "api/docs": Row("/api/docs", PUBLIC),
    "api/v1/": Row("/api/v1/", PUBLIC.replace("200", "404")),
    "help/reading": Row("/help/reading", PUBLIC),
    "api/v1/agent/heartbeat": Row(
        "/api/v1/agent/heartbeat", "401 401 401 200  401 401 401 401 200", "POST", b"{}", JSON
    ),
    "api/v1/agent/next": Row("/api/v1/agent/next", "401 401 401 200  401 401 401 401 200"),
    "api/v1/agent/runs/<run_id>/claim": Row("/api/v1/agent/runs/{run}/claim", AGENT_ONLY, "POST", ATTEMPT, JSON),
    "api/v1/agent/runs/<run_id>/progress": Row("/api/v1/agent/runs/{run}/progress", AGENT_ONLY, "POST", ATTEMPT, JSON),
    "api/v1/agent/runs/<run_id>/finish": Row("/api/v1/agent/runs/{run}/finish", AGENT_ONLY, "POST", ATTEMPT, JSON),
    "api/v1/agent/estimates/<estimate_id>/claim": Row(
        "/api/v1/agent/estimates/{estimate}/claim", AGENT_ONLY, "POST", ATTEMPT, JSON
    ),
    "api/v1/agent/estimates/<estimate_id>/finish": Row(
        "/api/v1/agent/estimates/{estimate}/finish", AGENT_ONLY, "POST", ATTEMPT, JSON
    ),
    "api/v1/runs/<run_id>/snapshots/<int:seq>": Row(
        "/api/v1/runs/{run}/snapshots/9?attempt=attempt-0002", AGENT_ONLY, "PUT", b"main 1\n"
    ),
    "api/v1/runs/<run_id>/files/<int:number>": Row(
        "/api/v1/runs/{run}/files/2", API.replace("200", "404"), "PUT", b"main 1\n"
    ),  # it is no upload
    "api/v1/projects/<slug>/uploads": Row(
        "/api/v1/projects/search-api/uploads", "404 401 404 401  403 201 201 201 401", "POST", b"main 1\n"
    ),
    "api/v1/projects/<slug>/symbols": Row("/api/v1/projects/search-api/symbols", API),
    "api/v1/projects/<slug>/symbols/<sha256>": Row(
        "/api/v1/projects/search-api/symbols/0123", "404 401 404 401  403 404 404 404 401", "DELETE"
    ),  # no such file
    "p/<slug:project>/symbols/<str:sha256>/delete": Row(
        "/p/search-api/symbols/0123/delete", "404 302 302 302  403 403 404 302 302", "POST", b"", FORM
    ),
    "p/<slug:project>/pushes": Row("/p/search-api/pushes", PAGE),
    "ingest": Row("/ingest?name=shop", "401 401 200 401  401 401 401 200 401", "POST", b""),
    "push.v1.PusherService/Push": Row(
        "/push.v1.PusherService/Push", "401 401 422 401  401 401 401 422 401", "POST", b"{}", JSON
    ),
    "api/v1/uploads": Row("/api/v1/uploads", "201 401 401 401  201 201 201 401 401", "POST", b"main 1\n"),
    "api/v1/projects/<slug>/runs": Row("/api/v1/projects/search-api/runs", API),
    "api/v1/runs/<run_id>": Row("/api/v1/runs/{run}", API),
    "api/v1/runs/<run_id>/snapshots/<seq>/export/<form>": Row("/api/v1/runs/{run}/snapshots/1/export/pprof", API),
    "api/v1/compare/<before>/<after>/export/<form>": Row("/api/v1/compare/{run}/{run}/export/pprof", API),
    "compare/<str:before>/<str:after>/export/<str:form>": Row("/compare/{run}/{run}/export/pprof", PAGE),
    "api/v1/compare/<before>/<after>": Row("/api/v1/compare/{run}/{run}", API),
    "api/v1/compare/<before>/<after>/alignment": Row("/api/v1/compare/{run}/{run}/alignment?rules=exact", API),
    "p/<slug:project>/compare/alignment": Row(
        "/p/search-api/compare/alignment", MEMBER_PAGE.replace("200", "204"), "POST", b"rules=", FORM
    ),
    "api/v1/runs/<run_id>/snapshots/<int:seq>/capture": Row("/api/v1/runs/{run}/snapshots/1/capture", API),
    "api/v1/runs/<run_id>/intervals/<since>/<until>": Row(
        "/api/v1/runs/{run}/intervals/1/2", API.replace("200", "404")
    ),  # it has one snapshot
    "api/v1/runs/<run_id>/intervals/<since>/<until>/export/<form>": Row(
        "/api/v1/runs/{run}/intervals/1/2/export/pprof", API.replace("200", "404")
    ),
    "runs/<str:run_id>/interval/<int:since>/<int:until>/<path:value_type>/<str:tag>/<str:stage>": Row(
        "/runs/{run}/interval/1/2/allocated_bytes/1-0/full", PAYLOAD.replace("200", "404")
    ),
    "": Row("/", "302 302 302 302  302 302 302 302 302"),  # to the project, or to the login
    "login": Row("/login", "302 200 200 200  302 302 302 200 200"),
    "logout": Row("/logout", "302 302 302 302  302 302 302 302 302", "POST"),
    "p/<slug:project>/settings": Row("/p/search-api/settings", PAGE),
    "p/<slug:project>/hosts": Row("/p/search-api/hosts", PAGE),
    "p/<slug:project>/hosts/<str:host_id>/processes": Row("/p/search-api/hosts/{host}/processes", PAGE),
    "upload": Row("/upload", "200 302 302 302  200 200 200 302 302"),
    "p/<slug:project>/": Row("/p/search-api/", PAGE),
    "p/<slug:project>/record": Row("/p/search-api/record", MEMBER_PAGE),
    "p/<slug:project>/estimates": Row(
        "/p/search-api/estimates", MEMBER_PAGE.replace("200", "302"), "POST", b"host={host}&process=1-1", FORM
    ),
    "p/<slug:project>/estimates/<str:estimate_id>": Row("/p/search-api/estimates/{estimate}", PAGE),
    "p/<slug:project>/upload": Row("/p/search-api/upload", MEMBER_PAGE),
    "p/<slug:project>/compare": Row("/p/search-api/compare", PAGE),
    "runs/<str:run_id>": Row("/runs/{run}", PAGE),
    "runs/<str:run_id>/stop": Row("/runs/{run}/stop", MEMBER_PAGE.replace("200", "302"), "POST", b"what=cancel", FORM),
    "runs/<str:run_id>/save": Row(
        "/runs/{run}/save", PAGE.replace("200", "404"), "POST", b"project=search-api", FORM
    ),  # it is no preview
    "runs/<str:run_id>/delete": Row("/runs/{run}/delete", "404 302 302 302  403 403 200 302 302"),
    "runs/<str:run_id>/received/<int:seq>": Row("/runs/{run}/received/1", PAGE),
    "runs/<str:run_id>/export/<int:seq>/<str:form>": Row("/runs/{run}/export/1/pprof", PAGE),
    "runs/<str:run_id>/payload/<int:seq>/<path:value_type>/<str:tag>/<str:stage>": Row(
        "/runs/{run}/payload/1/outstanding_bytes/{tag}/overview", PAYLOAD
    ),
    "compare/<str:before>/<str:after>": Row("/compare/{run}/{run}", PAGE),
    "compare/<str:before>/<str:after>/payload/<path:value_type>/<str:tag>/<str:stage>": Row(
        "/compare/{run}/{run}/payload/outstanding_bytes/{diff_tag}/overview", PAYLOAD
    ),
}


def _addresses(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _addresses(pattern.url_patterns, prefix + str(pattern.pattern))
        elif isinstance(pattern, URLPattern):
            yield prefix + str(pattern.pattern)


def test_every_address_has_its_row() -> None:
    assert set(_addresses(get_resolver().url_patterns)) == set(ROWS)


@pytest.fixture
def ask(
    story: Any, as_user: Callable[..., Client], recorded_run: Callable[..., Run]
) -> Callable[[Row, str], HttpResponse]:
    run = recorded_run()
    tag = run.snapshots.get().payloads.get(value_type="outstanding_bytes").tag
    tokens = {
        "token": story.token, "other token": story.other_token, "agent": story.host_token,
        "other agent": story.other_host_token,
    }  # fmt: skip
    estimate = estimates.ask(story.search, story.alice, host=story.host, process={"pid": 4711})
    assert estimates.claim(estimate, "attempt-0001")
    diff = as_user(story.alice).get(f"/api/v1/compare/{run.run_id}/{run.run_id}").json()

    def asked(row: Row, who: str) -> HttpResponse:
        user = getattr(story, who, None) if who not in tokens else None
        client = as_user(user) if user else Client()
        headers = {"Authorization": f"Bearer {tokens[who]}"} if who in tokens else {}
        host = story.host.host_id
        path = row.path.format(
            run=run.run_id, host=host, tag=tag, diff_tag=diff.get("tag"), estimate=estimate.estimate_id
        )  # fmt: skip
        body = row.body.replace(b"{host}", host.encode())
        return client.generic(row.method, path, body, content_type=row.content_type, headers=headers)

    return asked


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("eager_worker")
@pytest.mark.filterwarnings("ignore:task_always_eager has no effect")  # on a host's queue, which nobody serves here
@pytest.mark.parametrize("address", ROWS)
def test_it_answers_by_who_asks(address: str, ask: Callable[[Row, str], HttpResponse]) -> None:
    row = ROWS[address]

    answers = {who: ask(row, who).status_code for who in ASKERS}

    assert answers == dict(zip(ASKERS, map(int, row.answers.split()), strict=True))
