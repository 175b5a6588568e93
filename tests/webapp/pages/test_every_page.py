"""What holds on all pages: who may see them, a strict policy, no inline code, labels, whole markup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.test import Client

from webapp.hosts.models import Host
from webapp.runs import estimates
from webapp.runs.models import Run
from webapp.teams.models import User

# Of each page: what the owner, a member, a viewer, a stranger and nobody in particular get.
ACCESS = {
    "/p/search-api/": (200, 200, 200, 404, 302),
    "/p/search-api/record": (200, 200, 403, 404, 302),
    "/p/search-api/upload": (200, 200, 403, 404, 302),
    "/p/search-api/hosts": (200, 200, 200, 404, 302),
    "/p/search-api/hosts/{host}/processes": (200, 200, 200, 404, 302),
    "/p/search-api/estimates/{estimate}": (200, 200, 200, 404, 302),
    "/p/search-api/settings": (200, 200, 200, 404, 302),
    "/p/search-api/compare": (200, 200, 200, 404, 302),
    "/runs/{run}": (200, 200, 200, 404, 302),
    "/runs/{run}/delete": (200, 403, 403, 404, 302),
    "/compare/{run}/{run}": (200, 200, 200, 404, 302),
    "/upload": (200, 200, 200, 200, 302),
    "/login": (302, 302, 302, 302, 200),
    "/help/reading": (200, 200, 200, 200, 200),
    "/api/docs": (200, 200, 200, 200, 200),
    "/p/no-such-project/": (404, 404, 404, 404, 302),
}
PATHS = list(ACCESS)
NO_PAGE = {"/p/search-api/hosts/{host}/processes", "/p/search-api/estimates/{estimate}"}


@pytest.fixture
def address(story: Any, live_host: Host, listed_run: Callable[..., Run]) -> Callable[[str], str]:
    run = listed_run(labels={"load": "replay"})
    estimate = estimates.ask(story.search, story.alice, host=live_host, process={"pid": 4711})
    return lambda path: path.format(host=live_host.host_id, run=run.run_id, estimate=estimate.estimate_id)


def people(story: Any) -> list[User | None]:
    return [story.alice, story.bob, story.vera, story.charlie, None]


@pytest.mark.parametrize("path", PATHS)
def test_it_answers_by_role_and_strangers_as_if_nothing_were_there(
    path: str, story: Any, as_user: Callable[[User], Client], address: Callable[[str], str]
) -> None:
    clients = [as_user(person) if person else Client() for person in people(story)]

    assert tuple(client.get(address(path)).status_code for client in clients) == ACCESS[path]


@pytest.fixture
def rendered(
    story: Any, as_user: Callable[[User], Client], address: Callable[[str], str]
) -> Callable[[str], HttpResponse]:
    def fetch(path: str) -> HttpResponse:
        return (Client() if path == "/login" else as_user(story.alice)).get(address(path))

    return fetch


@pytest.mark.parametrize("path", PATHS)
def test_it_sends_a_policy_that_runs_no_foreign_and_no_inline_code(
    path: str, rendered: Callable[[str], HttpResponse]
) -> None:
    policy = rendered(path)["Content-Security-Policy"]

    directives = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == directives["style-src"] == "'self'"
    assert directives["frame-ancestors"] == directives["base-uri"] == "'none'"
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy


@pytest.mark.parametrize("path", PATHS)
def test_it_has_no_inline_code_and_loads_nothing_from_another_host(
    path: str, rendered: Callable[[str], HttpResponse], page_of: Callable[[HttpResponse], Any]
) -> None:
    page = page_of(rendered(path))

    assert not page.all("style")
    assert [script.attributes for script in page.all("script") if "src" not in script.attributes] == []
    for element in page.elements:
        forbidden = [name for name in element.attributes if name == "style" or name.startswith(("on", "hx-on"))]
        assert not forbidden, f"<{element.tag}> has {forbidden}"
        assert "javascript:" not in element.attributes.get("href", "")
    sources = [e.attributes.get("src") or e.attributes.get("href", "") for e in page.all("script") + page.all("link")]
    assert all(source.startswith("/") and not source.startswith("//") for source in sources)


@pytest.mark.parametrize("path", [path for path in PATHS if path not in NO_PAGE])
def test_it_says_where_one_is_and_lets_the_keyboard_skip_to_it(
    path: str, rendered: Callable[[str], HttpResponse], page_of: Callable[[HttpResponse], Any]
) -> None:
    page = page_of(rendered(path))

    assert page.one("html").attributes["lang"] == "en"
    assert page.one("title").text.endswith("memflame") and page.one("h1").text.strip()
    assert page.one("a", class_="skip").attributes["href"] == "#main"
    page.one("main", id="main")
    drawn = {use.attributes["href"] for use in page.all("use")}
    assert drawn and drawn <= {f"#{symbol.attributes['id']}" for symbol in page.all("symbol")}


@pytest.mark.parametrize("path", PATHS)
def test_each_control_has_a_name_and_each_id_is_used_once(
    path: str, rendered: Callable[[str], HttpResponse], page_of: Callable[[HttpResponse], Any]
) -> None:
    page = page_of(rendered(path))

    ids = [element.attributes["id"] for element in page.elements if element.attributes.get("id")]
    assert len(ids) == len(set(ids))
    labelled = {label.attributes.get("for") for label in page.all("label")}
    for control in page.all("input") + page.all("select"):
        is_named = "label" in control.inside or "aria-label" in control.attributes
        is_hidden = control.attributes.get("type") == "hidden"
        assert is_named or is_hidden or control.attributes.get("id") in labelled, control.attributes


@pytest.mark.parametrize("path", PATHS)
def test_each_form_that_changes_something_carries_the_csrf_token(
    path: str, rendered: Callable[[str], HttpResponse], page_of: Callable[[HttpResponse], Any]
) -> None:
    page = page_of(rendered(path))

    posting = [form for form in page.all("form") if form.attributes.get("method") == "post"]
    assert len(page.all("input", name="csrfmiddlewaretoken")) == len(posting)


def test_a_form_from_elsewhere_is_refused_in_words(
    story: Any, page_of: Callable[[HttpResponse], Any], address: Callable[[str], str]
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(story.alice)

    response = client.post(address("/runs/{run}/delete"))

    assert response.status_code == 403
    assert "load the page again" in page_of(response).text


# Sessions, user, project, role, and what the page itself asks for; a list that grows must not ask more.
QUERIES = {
    "/p/search-api/": 13,
    "/p/search-api/record": 7,
    "/p/search-api/upload": 6,
    "/p/search-api/hosts": 6,
    "/p/search-api/hosts/{host}/processes": 4,
    "/p/search-api/estimates/{estimate}": 4,
    "/p/search-api/settings": 13,
    "/runs/{run}/delete": 6,
    "/upload": 4,
    "/help/reading": 3,
    "/api/docs": 3,
}


@pytest.mark.parametrize("path", list(QUERIES))
def test_it_asks_the_database_a_known_number_of_times(
    path: str,
    story: Any,
    as_user: Callable[[User], Client],
    address: Callable[[str], str],
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    client, url = as_user(story.alice), address(path)

    with django_assert_num_queries(QUERIES[path]):
        client.get(url)


def test_an_error_page_needs_neither_a_user_nor_the_database(
    rf: Any, page_of: Callable[[HttpResponse], Any], django_db_blocker: Any
) -> None:
    from webapp.errors import server_error

    with django_db_blocker.block():
        response = server_error(rf.get("/p/search-api/"))

    assert response.status_code == 500
    assert "The site failed" in page_of(response).text


def test_a_database_that_is_away_is_told_as_that(
    story: Any, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    def locked(*_: object) -> None:
        raise OperationalError("database is locked")

    client = as_user(story.alice)
    client.raise_request_exception = False

    with connection.execute_wrapper(locked):
        response = client.get("/p/search-api/")

    assert response.status_code == 503 and response["Retry-After"] == "2"
    assert "The database does not answer" in page_of(response).text


@pytest.mark.parametrize(("cookie", "theme"), [("dark", "dark"), ("light", "light"), ('"><script>', None), ("", None)])
def test_it_comes_in_the_theme_that_was_chosen(cookie: str, theme: str | None, page_of: Callable[..., Any]) -> None:
    client = Client()
    client.cookies["memflame_theme"] = cookie

    assert page_of(client.get("/login")).one("html").attributes.get("data-theme") == theme
