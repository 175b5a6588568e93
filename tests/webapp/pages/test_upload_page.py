"""The Upload page: a private preview or a run of a project, by the way that the API's uploads go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from webapp.runs.models import Run, State
from webapp.teams.models import User

# The ingest worker's message is sent after the commit.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("eager_worker")]

PREVIEW, PROJECT = "/upload", "/p/search-api/upload"


def send(client: Client, path: str, body: bytes | None, *, name: str = "out.folded", **fields: str) -> HttpResponse:
    is_htmx = fields.pop("htmx", "")
    form = {**fields} if body is None else {"file": SimpleUploadedFile(name, body), **fields}
    return client.post(path, form, headers={"HX-Request": "true"} if is_htmx else {})


def test_a_file_opens_as_a_preview_that_only_its_uploader_sees(
    story: Any, as_user: Callable[[User], Client], leaky_folded: bytes, get: Callable[..., Any]
) -> None:
    response = send(as_user(story.vera), PREVIEW, leaky_folded)

    run = Run.objects.get()
    assert response["Location"] == f"/runs/{run.run_id}"
    assert (run.project, run.created_by, run.title, run.state) == (None, story.vera, "out.folded", State.READY)
    assert run.preview_until is not None and run.total == 98_432
    assert run.run_id in get(story.vera, PREVIEW).text
    assert run.run_id not in get(story.alice, PREVIEW).text


def test_a_file_becomes_a_run_of_the_project(
    story: Any, as_user: Callable[[User], Client], leaky_folded: bytes
) -> None:
    send(as_user(story.bob), PROJECT, leaky_folded, service="search", deploy="2026.11.5", labels="load=replay")

    run = Run.objects.get()
    assert (run.project, run.created_by, run.state) == (story.search, story.bob, State.READY)
    assert (run.service, run.deploy, run.labels) == ("search", "2026.11.5", {"load": "replay"})


def test_a_dropped_file_is_followed_without_a_reload(
    story: Any, as_user: Callable[[User], Client], leaky_folded: bytes
) -> None:
    response = send(as_user(story.bob), PREVIEW, leaky_folded, htmx="yes")

    assert response["HX-Redirect"] == f"/runs/{Run.objects.get().run_id}"


def send_all(client: Client, path: str, bodies: dict[str, bytes]) -> HttpResponse:
    return client.post(path, {"file": [SimpleUploadedFile(name, body) for name, body in bodies.items()]})


DUMPS = {"jeprof.7.10.f.heap": b"main;b 20\n", "jeprof.7.9.i9.heap": b"main;a 10\n"}


def test_several_files_become_the_snapshots_of_one_run(story: Any, as_user: Callable[[User], Client]) -> None:
    send_all(as_user(story.bob), PROJECT, DUMPS)

    run = Run.objects.get()
    assert (run.title, run.state, run.total) == ("jeprof.7.*.heap", State.READY, 20)
    assert [snapshot.label for snapshot in run.snapshots.all()] == ["jeprof.7.9.i9.heap", "jeprof.7.10.f.heap"]


def test_dumps_of_two_processes_are_refused_with_their_pids(story: Any, as_user: Callable[[User], Client]) -> None:
    response = send_all(as_user(story.bob), PREVIEW, DUMPS | {"jeprof.8.0.f.heap": b"main 1\n"})

    assert response.status_code == 422
    assert "These are dumps of 2 processes (7, 8)" in response.content.decode()
    assert not Run.objects.exists()


def test_one_bad_file_of_several_refuses_them_all(story: Any, as_user: Callable[[User], Client], storage: Path) -> None:
    response = send_all(as_user(story.bob), PREVIEW, {"good.folded": b"main 1\n", "bad.folded": b"no value\n"})

    assert "good.folded and 1 more was not stored: bad.folded: " in response.content.decode()
    assert (Run.objects.count(), [path for path in storage.rglob("*") if path.is_file()]) == (0, [])


BAD = {
    "empty": (b"", "The file is empty: 0 bytes came."),
    "junk": (bytes(range(256)) * 4, "was not stored"),
    "no stacks": (b"main;load_index 40,0kB\n", "was not stored"),
}


@pytest.mark.parametrize("case", list(BAD))
@pytest.mark.parametrize("path", [PREVIEW, PROJECT])
def test_a_file_that_cannot_be_read_is_refused_in_words_and_nothing_stays(
    path: str,
    case: str,
    story: Any,
    as_user: Callable[[User], Client],
    page_of: Callable[[HttpResponse], Any],
    storage: Path,
) -> None:
    body, words = BAD[case]

    response = send(as_user(story.bob), path, body)

    assert response.status_code == 422
    assert words in page_of(response).one("div", role="alert").text
    assert not Run.objects.exists()
    assert [file for file in storage.rglob("*") if file.is_file()] == []


def test_a_refused_drop_answers_the_form_only(
    story: Any, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    page = page_of(send(as_user(story.bob), PREVIEW, b"junk", htmx="yes"))

    assert page.elements[0].tag == "form" and "was not stored" in page.text


def test_a_limit_is_named_with_its_value(
    story: Any, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any], settings: Any, storage: Path
) -> None:
    settings.MAX_UPLOAD_BYTES = 1000

    response = send(as_user(story.bob), PREVIEW, b"main;load 1\n" * 100)

    assert response.status_code == 422
    assert "the limit is 1,000" in page_of(response).one("div", role="alert").text
    assert not Run.objects.exists() and [file for file in storage.rglob("*") if file.is_file()] == []


def test_without_a_file_it_asks_for_one(
    story: Any, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any]
) -> None:
    assert "Choose a file." in page_of(send(as_user(story.bob), PREVIEW, None)).text


def test_a_bad_label_is_told_beside_its_field_and_nothing_is_stored(
    story: Any, as_user: Callable[[User], Client], page_of: Callable[[HttpResponse], Any], leaky_folded: bytes
) -> None:
    page = page_of(send(as_user(story.bob), PROJECT, leaky_folded, labels="load", service="search"))

    assert "label is 'load', it must be key=value" in page.one("span", class_="field-error").text
    assert page.one("input", name="service").attributes["value"] == "search"
    assert not Run.objects.exists()


def test_a_viewer_may_preview_but_not_upload_to_the_project(
    story: Any, as_user: Callable[[User], Client], leaky_folded: bytes
) -> None:
    response = send(as_user(story.vera), PROJECT, leaky_folded)

    assert response.status_code == 403
    assert not Run.objects.exists()
