"""The New-run page, filled in with what another run was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.webapp.pages.new_run import NEW_RUN, checked_in
from webapp.hosts.models import Host
from webapp.runs.models import Run


@pytest.fixture
def repeated(
    story: Any, live_host: Host, get: Callable[..., Any], queued_run: Callable[..., Run]
) -> Callable[..., Any]:
    """The form as "Record again" of a run of search-api opens it."""

    def open_form(**options: Any) -> Any:
        facts: dict[str, Any] = {
            "collector": "brk",
            "service": "search",
            "deploy": "v1",
            "labels": {"a": "1", "b": "2"},
        }
        run = queued_run(**facts | options)
        return get(story.bob, f"{NEW_RUN}?again={run.run_id}")

    return open_form


def test_record_again_asks_for_the_same_once_more(repeated: Callable[..., Any]) -> None:
    page = repeated(duration_s=600.0)

    assert checked_in(page) == {"4711-1234", "brk", "600"}
    filled = [page.one("input", name=name).attributes["value"] for name in ("service", "deploy", "labels")]
    assert filled == ["search", "v1", "a=1, b=2"]


def test_record_again_keeps_the_options(repeated: Callable[..., Any]) -> None:
    options = {"older_than": "30s", "max_size": 512, "unwind": "fp", "max_stacks": 64, "lines": 1}
    page = repeated(collector="malloc", options=options)

    chosen = [choice.attributes["value"] for choice in page.all("option") if "selected" in choice.attributes]
    assert chosen[-2:] == ["fp", "1"]
    filled = [page.one("input", name=name).attributes["value"] for name in ("older_than", "max_size", "min_size")]
    assert filled == ["30s", "512", ""]


def test_record_again_keeps_the_processes_that_still_run(repeated: Callable[..., Any]) -> None:
    page = repeated(target="pids:4711@1234,880@2,4999@1", options={"follow_children": 1})

    assert page.one("input", name="also_pids").attributes["value"] == "880"
    assert "checked" in page.one("input", name="follow_children").attributes
    assert "checked" not in page.one("input", name="by_process").attributes


def test_record_again_keeps_a_length_of_its_own(repeated: Callable[..., Any]) -> None:
    page = repeated(duration_s=90.0)

    assert "own" in checked_in(page)
    assert page.one("input", name="own_duration").attributes["value"] == "90"


def test_record_again_finds_a_restarted_process_by_its_command(live_host: Host, repeated: Callable[..., Any]) -> None:
    restarted = [row | {"pid": row["pid"] + 1, "start_time": row["start_time"] + 1} for row in live_host.processes]
    Host.objects.filter(pk=live_host.pk).update(processes=restarted)

    assert "4712-1235" in checked_in(repeated())


def test_record_again_of_a_run_that_one_may_not_see_is_an_empty_form(
    story: Any, live_host: Host, get: Callable[..., Any], listed_run: Callable[..., Run]
) -> None:
    foreign = listed_run(project=story.ads, service="secret")

    page = get(story.bob, f"{NEW_RUN}?again={foreign.run_id}")

    assert page.one("input", name="service").attributes["value"] == ""
