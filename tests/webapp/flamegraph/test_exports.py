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
    assert response["Content-Disposition"].endswith(f'-1.{FORMS[form].extension}"')


def test_json_and_the_table_have_the_same_sums(download: Callable[[str], Any]) -> None:
    assert sum(value for (value,) in json.loads(content(download("json")))["values"]) == 4160
    head, first, *_ = csv.reader(content(download("csv")).decode().splitlines())
    assert (head[0], first) == ("function", ["main", "0", "4160"])


def test_a_form_that_there_is_not_is_not_found(download: Callable[[str], Any]) -> None:
    assert download("svg").status_code == 404


def test_the_menu_of_a_run_offers_every_form(story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]) -> None:
    run = uploaded_run()

    page = as_user(story.vera).get(f"/runs/{run.run_id}").content.decode()

    assert all(f"/runs/{run.run_id}/export/1/{form}" in page for form in FORMS)
