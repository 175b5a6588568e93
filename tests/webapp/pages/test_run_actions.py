"""What can be done to a run: stop, cancel, save a preview, delete; and by whom."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from webapp.runs.models import Run, RunLabel, State
from webapp.teams.models import User


def test_a_member_cancels_a_run_at_once(
    story: Any, as_user: Callable[[User], Client], claimed_run: Callable[..., Run]
) -> None:
    run = claimed_run()

    response = as_user(story.bob).post(f"/runs/{run.run_id}/stop", {"what": "cancel"})

    run.refresh_from_db()
    assert response["Location"] == f"/runs/{run.run_id}"
    assert (run.state, run.reason) == (State.CANCELLED, "Cancelled by bob.")


def test_stop_keeps_what_was_recorded(
    story: Any, as_user: Callable[[User], Client], claimed_run: Callable[..., Run]
) -> None:
    run = claimed_run()

    as_user(story.bob).post(f"/runs/{run.run_id}/stop", {"what": "stop"})

    run.refresh_from_db()
    assert (run.state, run.stop_requested) == (State.CLAIMED, "stop")


def test_a_run_that_has_ended_is_left_alone_and_that_is_said(
    story: Any,
    as_user: Callable[[User], Client],
    listed_run: Callable[..., Run],
    page_of: Callable[[HttpResponse], Any],
) -> None:
    run, client = listed_run(), as_user(story.bob)

    client.post(f"/runs/{run.run_id}/stop", {"what": "cancel"})

    run.refresh_from_db()
    assert run.state == State.READY
    assert "The run had ended already: nothing was changed." in page_of(client.get("/p/search-api/")).text


@pytest.mark.parametrize("what", ["", "pause"])
def test_there_is_stop_and_cancel_and_nothing_else(
    what: str, story: Any, as_user: Callable[[User], Client], claimed_run: Callable[..., Run]
) -> None:
    assert as_user(story.bob).post(f"/runs/{claimed_run().run_id}/stop", {"what": what}).status_code == 404


@pytest.mark.parametrize("action", ["stop", "delete"])
def test_viewers_are_refused_and_strangers_see_nothing(
    action: str, story: Any, as_user: Callable[[User], Client], claimed_run: Callable[..., Run]
) -> None:
    run = claimed_run()

    statuses = [
        as_user(user).post(f"/runs/{run.run_id}/{action}", {"what": "cancel"}).status_code
        for user in (story.vera, story.charlie)
    ]

    assert statuses == [403, 404]
    run.refresh_from_db()
    assert run.state == State.CLAIMED


@pytest.mark.parametrize("action", ["stop", "save"])
def test_a_link_changes_nothing(action: str, story: Any, as_user: Callable[[User], Client], claimed_run: Any) -> None:
    assert as_user(story.bob).get(f"/runs/{claimed_run().run_id}/{action}").status_code == 405


@pytest.fixture
def preview(story: Any, listed_run: Callable[..., Run]) -> Run:
    return listed_run(project=None, created_by=story.bob, preview_until=timezone.now(), labels={"load": "replay"})


def test_a_preview_is_saved_to_a_project_for_good(story: Any, preview: Run, as_user: Callable[[User], Client]) -> None:
    response = as_user(story.bob).post(f"/runs/{preview.run_id}/save", {"project": "search-api"})

    preview.refresh_from_db()
    assert response["Location"] == f"/runs/{preview.run_id}"
    assert (preview.project, preview.preview_until) == (story.search, None)
    assert RunLabel.objects.get(run=preview).project == story.search


@pytest.mark.parametrize(
    ("person", "target", "status"),
    [("bob", "ads-api", 404), ("bob", "none", 404), ("alice", "search-api", 404), ("charlie", "ads-api", 404)],
)
def test_a_preview_is_saved_by_its_uploader_where_that_is_a_member(
    person: str, target: str, status: int, story: Any, preview: Run, as_user: Callable[[User], Client]
) -> None:
    response = as_user(getattr(story, person)).post(f"/runs/{preview.run_id}/save", {"project": target})

    preview.refresh_from_db()
    assert response.status_code == status and preview.project is None


def test_a_viewer_saves_nothing_to_the_project(
    story: Any, as_user: Callable[[User], Client], listed_run: Callable[..., Run]
) -> None:
    preview = listed_run(project=None, created_by=story.vera)

    response = as_user(story.vera).post(f"/runs/{preview.run_id}/save", {"project": "search-api"})

    assert response.status_code == 403


def test_a_saved_run_is_not_saved_elsewhere(
    story: Any, as_user: Callable[[User], Client], listed_run: Callable[..., Run]
) -> None:
    run = listed_run()

    response = as_user(story.alice).post(f"/runs/{run.run_id}/save", {"project": "search-api"})

    assert response.status_code == 404


def test_deleting_asks_first_and_then_leaves_nothing(
    story: Any, as_user: Callable[[User], Client], uploaded_run: Callable[..., Run], storage: Path
) -> None:
    run, client = uploaded_run(), as_user(story.alice)

    asked = client.get(f"/runs/{run.run_id}/delete")
    assert "This can’t be undone." in asked.content.decode() and Run.objects.filter(pk=run.pk).exists()

    deleted = client.post(f"/runs/{run.run_id}/delete")
    assert deleted["Location"] == "/p/search-api/"
    assert not Run.objects.filter(pk=run.pk).exists()
    assert [file for file in storage.rglob("*") if file.is_file()] == []


def test_a_member_deletes_ones_own_runs_only(
    story: Any, as_user: Callable[[User], Client], listed_run: Callable[..., Run]
) -> None:
    own, other = listed_run(created_by=story.bob), listed_run(created_by=story.alice)
    client = as_user(story.bob)

    assert client.post(f"/runs/{own.run_id}/delete").status_code == 302
    response = client.post(f"/runs/{other.run_id}/delete")

    assert response.status_code == 403
    assert "Only who made a run, or an owner of its project, deletes it." in response.content.decode()
    assert Run.objects.get() == other


def test_a_preview_is_deleted_by_its_uploader(story: Any, preview: Run, as_user: Callable[[User], Client]) -> None:
    assert as_user(story.alice).post(f"/runs/{preview.run_id}/delete").status_code == 404
    assert as_user(story.bob).post(f"/runs/{preview.run_id}/delete")["Location"] == "/upload"
    assert not Run.objects.exists()
