"""The budget of a project: refusals name limit and value, and say when to come back."""

from __future__ import annotations

from typing import Any

from webapp.runs.models import Snapshot


def test_snapshots_over_the_hours_limit_are_refused(alloy: Any, heap: Any, settings: Any) -> None:
    settings.PUSH_SNAPSHOTS_AN_HOUR = 2
    for blocks in (1, 2):
        assert alloy.push(heap(blocks), service_name="shop").status_code == 200

    answer = alloy.push(heap(3), service_name="shop")

    assert (answer.status_code, answer.json()["code"]) == (429, "resource_exhausted")
    assert answer.json()["message"] == "search-api has pushed 2 snapshots in the last hour, the limit is 2."
    assert 3500 < int(answer["Retry-After"]) <= 3600
    assert Snapshot.objects.count() == 2


def test_a_retry_is_answered_over_the_limit_too(alloy: Any, heap: Any, settings: Any) -> None:
    settings.PUSH_SNAPSHOTS_AN_HOUR = 1
    for _ in range(2):
        assert alloy.push(heap(), service_name="shop").status_code == 200


def test_instances_over_the_limit_are_refused_and_known_ones_go_on(alloy: Any, heap: Any, settings: Any) -> None:
    settings.PUSH_INSTANCES = 1
    alloy.push(heap(1), service_name="shop", pod="a")

    answer = alloy.ingest(heap(), name="shop{pod=b}", format="pprof")

    assert answer.status_code == 429
    assert answer.json() == {
        "error": "search-api has 1 instances that push, the limit is 1; one must fall silent first."
    }
    assert 0 < int(answer["Retry-After"]) <= 600
    assert alloy.push(heap(2), service_name="shop", pod="a").status_code == 200


def test_the_budget_of_one_project_is_not_anothers(alloy: Any, heap: Any, story: Any, settings: Any) -> None:
    settings.PUSH_SNAPSHOTS_AN_HOUR = 1
    alloy.push(heap(1), service_name="shop")

    assert type(alloy)(story.other_token).push(heap(2), service_name="shop").status_code == 200
