"""Downloads of a snapshot in the forms that other tools read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tracer import protocol
from tracer.profile.export.forms import FORMS
from tracer.profile.formats import read_profile
from webapp.flamegraph.exports import safe_name
from webapp.runs.models import Run
from webapp.teams.models import User

AsUser = Callable[[User], Client]


@pytest.fixture
def download(story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]) -> Callable[[str], Any]:
    run = uploaded_run(b"main;load_index;malloc 4096\nmain;serve 64\n")
    return lambda form: as_user(story.vera).get(f"/runs/{run.run_id}/export/1/{form}")


def content(response: Any) -> bytes:
    return b"".join(response.streaming_content)


@pytest.mark.parametrize("form", ["folded", "pprof", "speedscope"])
def test_what_is_downloaded_holds_the_same_stacks(download: Callable[[str], Any], form: str) -> None:
    response = download(form)

    profile = read_profile(io.BytesIO(content(response)), resolve=protocol.value_type_named)
    assert profile.values_by_stack == {("main", "load_index", "malloc"): [4096], ("main", "serve"): [64]}
    assert response["Content-Disposition"].endswith(f'.{FORMS[form].extension}"')


def test_json_and_the_table_have_the_same_sums(download: Callable[[str], Any]) -> None:
    assert sum(value for (value,) in json.loads(content(download("json")))["values"]) == 4160
    head, first, *_ = csv.reader(content(download("csv")).decode().splitlines())
    assert (head[0], first) == ("function", ["main", "0", "4160"])


def test_a_form_that_there_is_not_is_not_found(download: Callable[[str], Any]) -> None:
    assert download("png").status_code == 404


def test_the_menu_of_a_run_offers_every_form(story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]) -> None:
    run = uploaded_run()

    page = as_user(story.vera).get(f"/runs/{run.run_id}").content.decode()

    assert all(f"/runs/{run.run_id}/export/1/{form}" in page for form in FORMS)


TWO = b"""# memflame-folded 1
# values: outstanding_bytes outstanding_objects
main;load_index 4096 2
"""


def test_a_value_type_may_be_chosen(ci: Any, uploaded_run: Callable[..., Run]) -> None:
    path = f"/runs/{uploaded_run(TWO).run_id}/snapshots/1/export"

    assert content(ci.get(f"{path}/folded?value_type=outstanding_objects")) == b"main;load_index 2\n"
    assert content(ci.get(f"{path}/folded")) == b"main;load_index 4096\n"
    types = json.loads(content(ci.get(f"{path}/json?value_type=outstanding_objects")))["value_types"]
    assert [known["name"] for known in types] == ["outstanding_objects", "outstanding_bytes"]


def test_a_picture_is_as_the_query_says(ci: Any, uploaded_run: Callable[..., Run]) -> None:
    run = uploaded_run(TWO, service="search-api")

    response = ci.get(f"/runs/{run.run_id}/snapshots/1/export/svg?view=icicle&width=800&colors=warm")

    picture = content(response).decode()
    assert (response["Content-Type"], 'width="800"' in picture) == ("image/svg+xml", True)
    assert "<title>search-api, " in picture
    assert response["Content-Disposition"] == f'attachment; filename="{run.run_id}-1-outstanding_bytes.svg"'


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("svg?view=round", 422, "view is 'round', there is flame, icicle."),
        ("svg?width=nan", 422, "width is 'nan', a number from 320 to 20,000 is needed."),
        ("svg?value_type=calls", 404, "There is no value type 'calls'"),
        ("gif", 404, "There is no form 'gif'"),
    ],
)
def test_what_there_is_not_is_refused_in_words(
    ci: Any, uploaded_run: Callable[..., Run], query: str, status: int, words: str
) -> None:
    response = ci.get(f"/runs/{uploaded_run(TWO).run_id}/snapshots/1/export/{query}")

    assert response.status_code == status
    assert words in response.json()["error"]


def test_names_of_value_types_make_safe_file_names() -> None:
    assert safe_name('r-1-sys:mmap.bytes/../"x\n') == "r-1-sys_mmap.bytes_.._x_"
