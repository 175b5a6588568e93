"""Own code of a project: owners name it, everybody who sees a graph is offered it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from webapp.runs.models import Run
from webapp.teams.models import CodePreset, User

SETTINGS = "/p/search-api/settings"
AsUser = Callable[[User], Client]


def _add(client: Client, name: str = "our services", pattern: str = "^search::") -> Any:
    return client.post(SETTINGS, {"action": "add_preset", "name": name, "pattern": pattern})


def test_an_owner_names_it_and_every_run_of_the_project_offers_it(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    run = uploaded_run()

    assert _add(as_user(story.alice)).status_code == 302

    offered = as_user(story.vera).get(f"/api/v1/runs/{run.run_id}").json()["code_presets"]
    assert offered == [{"title": "our services", "pattern": "^search::"}]
    page = as_user(story.vera).get(SETTINGS).content.decode()
    assert "^search::" in page
    assert 'value="add_preset"' not in page


def test_a_member_who_is_no_owner_changes_none(story: Any, as_user: AsUser) -> None:
    story.search.code_presets.create(name="ours", pattern="x")

    assert _add(as_user(story.bob)).status_code == 403
    assert as_user(story.bob).post(SETTINGS, {"action": "delete_preset", "name": "ours"}).status_code == 403

    assert [preset.name for preset in CodePreset.objects.all()] == ["ours"]


@pytest.mark.parametrize(
    ("name", "pattern", "words"),
    [
        ("ours", "search(", "missing ), unterminated subpattern at character 7"),
        ("ours", "", "Enter an expression"),
        ("", "x", "Name the code"),
        ("ours", "x" * 501, "at most 500 characters (it has 501)"),
        ("known", "x", "“known” is there already"),
    ],
)
def test_what_can_not_be_used_is_refused_in_words_and_stays_in_the_form(
    story: Any, as_user: AsUser, name: str, pattern: str, words: str
) -> None:
    story.search.code_presets.create(name="known", pattern="y")

    answer = _add(as_user(story.alice), name, pattern)

    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert CodePreset.objects.count() == 1


def test_a_project_has_a_menu_full_of_them_and_no_more(story: Any, as_user: AsUser) -> None:
    for number in range(CodePreset.MOST):
        story.search.code_presets.create(name=f"code {number}", pattern="x")

    assert "at most 30" in _add(as_user(story.alice)).content.decode()


def test_a_deleted_one_is_offered_no_more(story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]) -> None:
    run = uploaded_run()
    _add(as_user(story.alice))

    as_user(story.alice).post(SETTINGS, {"action": "delete_preset", "name": "our services"})

    assert as_user(story.alice).get(f"/api/v1/runs/{run.run_id}").json()["code_presets"] == []


def test_a_comparison_offers_it_too(story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]) -> None:
    runs = [uploaded_run().run_id, uploaded_run().run_id]
    _add(as_user(story.alice), "<b>ours</b>")

    found = as_user(story.vera).get(f"/api/v1/compare/{runs[0]}/{runs[1]}").json()

    assert found["code_presets"] == [{"title": "<b>ours</b>", "pattern": "^search::"}]
    assert "<b>ours</b>" not in as_user(story.alice).get(SETTINGS).content.decode()
