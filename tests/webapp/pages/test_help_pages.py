"""The API page is the schema in words; the help page says what docs/reading.md says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.http import HttpResponse
from django.test import Client

from webapp.api import api


def test_the_api_page_tells_every_operation_with_parameters_answers_and_a_command(
    db: None, page_of: Callable[[HttpResponse], Any]
) -> None:
    page = page_of(Client().get("/api/docs"))

    shown = {tuple(op.text.split()[:2]) for op in page.all("summary") if "/api/v1" in op.text}
    schema = api.get_openapi_schema()
    expected = {(method.upper(), path) for path, methods in schema["paths"].items() for method in methods}
    assert shown == expected and len(expected) >= 9
    blocks = page.all("details", class_="operation")
    assert all("curl" in block.text and "Answers" in block.text for block in blocks)


def test_the_api_page_names_each_parameter(db: None, page_of: Callable[[HttpResponse], Any]) -> None:
    page = page_of(Client().get("/api/docs"))

    upload = next(block for block in page.all("details", class_="operation") if "projects/{slug}/uploads" in block.text)
    for name in ("service", "deploy", "label", "at"):
        assert name in upload.text
    assert "--data-binary @out.folded" in upload.text


def test_the_api_page_unfolds_nested_bodies(db: None, page_of: Callable[[HttpResponse], Any]) -> None:
    page = page_of(Client().get("/api/docs"))

    heartbeat = next(block for block in page.all("details", class_="operation") if "agent/heartbeat" in block.text)
    assert "facts.kernel" in heartbeat.text and "processes[].pid" in heartbeat.text


def test_the_help_page_says_what_the_documentation_says(db: None, page_of: Callable[[HttpResponse], Any]) -> None:
    markdown = (Path(__file__).parents[3] / "docs" / "reading.md").read_text()

    shown = page_of(Client().get("/help/reading")).one("main").text

    assert words_of(shown) == words_of(re.sub(r"^#+ |\*+|^\|[-|]+$|\||`", "", markdown, flags=re.MULTILINE))


def words_of(text: str) -> list[str]:
    return text.replace("’", "'").split()
