"""`GET /api/v1/compare/…`: sides, common value types, where the payload is, and what to beware of."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from webapp.compare.models import DiffPayload
from webapp.runs.models import Run
from webapp.teams.models import User

AsUser = Callable[[User], Client]
Runs = tuple[Run, Run]


def header_of(packed: bytes) -> dict[str, Any]:
    data = gzip.decompress(packed)
    header: dict[str, Any] = json.loads(data[8 : 8 + struct.unpack("<I", data[4:8])[0]])
    return header


def filled(view: dict[str, Any], stage: str = "overview") -> str:
    url: str = view["payload_url"]
    return url.format(value_type=view["value_type"], tag=view["tag"], stage=stage)


def test_it_says_what_the_sides_are(ci: Any, two_runs: Runs) -> None:
    before, after = two_runs

    view = ci.get(f"/compare/{before.run_id}/{after.run_id}").json()

    assert (view["before"]["run"], view["before"]["seq"], view["before"]["total"]) == (before.run_id, 1, 130)
    assert (view["after"]["deploy"], view["after"]["total"]) == ("1.1", 540)
    assert view["value_type"] == "outstanding_bytes"
    assert [row["name"] for row in view["value_types"]] == ["outstanding_bytes", "allocated_bytes"]
    assert view["warnings"] == []


def test_its_payload_holds_both_sides(story: Any, ci: Any, as_user: AsUser, two_runs: Runs) -> None:
    view = ci.get(f"/compare/{two_runs[0].run_id}/{two_runs[1].run_id}").json()

    response = as_user(story.vera).get(filled(view), headers={"Accept-Encoding": "gzip"})

    header = header_of(response.content)
    assert (header["total"], header["total2"], header["n"]) == (130, 540, 6)
    assert response["Cache-Control"] == "private, max-age=31536000, immutable"


def test_another_value_type_can_be_asked_for(ci: Any, two_runs: Runs) -> None:
    view = ci.get(f"/compare/{two_runs[0].run_id}/{two_runs[1].run_id}?value_type=allocated_bytes").json()

    assert (view["before"]["total"], view["after"]["total"]) == (160, 540)


def test_a_value_type_that_one_side_lacks_falls_back_with_a_warning(ci: Any, two_runs: Runs) -> None:
    view = ci.get(f"/compare/{two_runs[0].run_id}/{two_runs[1].run_id}?value_type=calls").json()

    assert view["value_type"] == "outstanding_bytes"
    assert view["warnings"] == ["calls is not on both sides; outstanding_bytes is shown."]


def _with_bands(*bands: str) -> bytes:
    names = " ".join(["outstanding_bytes", *(f"outstanding_bytes.{band}" for band in bands)])
    head = f'# memflame-folded 1\n# values: {names}\n# capture: {{"collector": "malloc"}}\n'
    return f"{head}main;leak 100 100{' 0' * (len(bands) - 1)}\n".encode()


@pytest.mark.parametrize(
    ("bands", "common"),
    [
        (("lt10s", "older"), ["outstanding_bytes", "outstanding_bytes.lt10s", "outstanding_bytes.older"]),
        (("lt10s", "lt1m", "older"), ["outstanding_bytes"]),
    ],
)
def test_bands_of_age_are_compared_with_the_same_bands_only(
    bands: tuple[str, ...], common: list[str], ci: Any, uploaded_run: Callable[..., Run]
) -> None:
    before, after = uploaded_run(_with_bands("lt10s", "older")), uploaded_run(_with_bands(*bands))

    view = ci.get(f"/compare/{before.run_id}/{after.run_id}").json()

    assert [row["name"] for row in view["value_types"]] == common


def test_the_trees_are_merged_once(
    ci: Any, two_runs: Runs, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    address = f"/compare/{two_runs[0].run_id}/{two_runs[1].run_id}"
    first = ci.get(address).json()

    with django_assert_max_num_queries(8):  # token, 2 x (run, snapshot), difference
        second = ci.get(address).json()

    assert second["tag"] == first["tag"]
    assert DiffPayload.objects.count() == 1


def test_snapshots_of_one_run_are_compared(
    ci: Any, claimed_run: Callable[..., Run], snapshot_of: Callable[..., Any]
) -> None:
    run = claimed_run()
    snapshot_of(run, 1, elapsed_s=2.0)
    snapshot_of(run, 2, body=b"# memflame-folded 1\n# values: outstanding_bytes\nmain 5\n", elapsed_s=4.0)

    view = ci.get(f"/compare/{run.run_id}@1/{run.run_id}").json()

    assert (view["before"]["seq"], view["after"]["seq"]) == (1, 2)
    assert f"/compare/{run.run_id}@1/{run.run_id}@2/" in view["payload_url"]


def test_a_run_and_itself_have_no_delta(ci: Any, two_runs: Runs) -> None:
    view = ci.get(f"/compare/{two_runs[0].run_id}/{two_runs[0].run_id}").json()

    assert view["before"]["total"] == view["after"]["total"]
    assert view["warnings"] == ["Both sides are the same snapshot."]


def test_sides_without_a_common_value_type_are_refused(
    ci: Any, two_runs: Runs, uploaded_run: Callable[..., Run]
) -> None:
    other = uploaded_run(b"main 3\n")

    reply = ci.get(f"/compare/{two_runs[0].run_id}/{other.run_id}")

    assert reply.status_code == 422
    assert reply.json()["error"] == (
        "The sides have no value type in common: outstanding_bytes, allocated_bytes before, value after."
    )


def test_a_run_without_a_snapshot_is_not_ready(ci: Any, two_runs: Runs, queued_run: Callable[..., Run]) -> None:
    queued = queued_run()

    reply = ci.get(f"/compare/{two_runs[0].run_id}/{queued.run_id}")

    assert reply.status_code == 409
    assert reply.json()["error"] == f"Run {queued.run_id} is queued and has no snapshot to compare yet."


def test_an_unreadable_snapshot_says_why(
    ci: Any, two_runs: Runs, claimed_run: Callable[..., Run], snapshot_of: Callable[..., Any]
) -> None:
    run = claimed_run()
    snapshot_of(run, 1, body=b"main 1\nma\x00in 2\n")

    reply = ci.get(f"/compare/{two_runs[0].run_id}/{run.run_id}@1")

    assert reply.status_code == 409
    assert "could not be read: line 2 holds a NUL" in reply.json()["error"]


@pytest.mark.parametrize("side", ["r-nowhere", "{run}@9", "{run}@99999999999999999999", "{run}@x", "{run}@"])
def test_what_does_not_exist_is_404(ci: Any, two_runs: Runs, side: str) -> None:
    reply = ci.get(f"/compare/{two_runs[0].run_id}/{side.format(run=two_runs[1].run_id)}")

    assert reply.status_code == 404
    assert "error" in reply.json()


def test_another_projects_token_gets_404(other_ci: Any, two_runs: Runs) -> None:
    assert other_ci.get(f"/compare/{two_runs[0].run_id}/{two_runs[1].run_id}").status_code == 404


def test_a_stranger_gets_no_payload(story: Any, ci: Any, as_user: AsUser, two_runs: Runs) -> None:
    url = filled(ci.get(f"/compare/{two_runs[0].run_id}/{two_runs[1].run_id}").json())

    assert as_user(story.charlie).get(url).status_code == 404
    assert Client().get(url).status_code == 403


def test_swapped_sides_are_warned_of(ci: Any, two_runs: Runs) -> None:
    view = ci.get(f"/compare/{two_runs[1].run_id}/{two_runs[0].run_id}").json()

    assert view["warnings"] == ["Before was taken later than after: the sides are swapped in time."]


def test_losses_other_services_and_skipped_lines_are_warned_of(
    ci: Any, two_runs: Runs, uploaded_run: Callable[..., Run]
) -> None:
    lossy = uploaded_run(
        b"# memflame-folded 1\n# values: outstanding_bytes\n"
        b'# capture: {"collector": "malloc", "lost": {"stack_map_full": 1200, "odd": "x", "none": 0}}\n'
        b"main;serve 5\nbad line\n",
        service="ads",
        taken_at=datetime(2026, 11, 3, tzinfo=UTC),
    )

    view = ci.get(f"/compare/{two_runs[0].run_id}/{lossy.run_id}").json()

    assert view["warnings"] == [
        "The service is search-api before and ads after.",
        "After lost 1,200 events (the stack map was full): its numbers are too small.",
        "After skipped 1 lines of its file.",
    ]


def test_nothing_in_common_is_warned_of(ci: Any, two_runs: Runs, uploaded_run: Callable[..., Run]) -> None:
    apart = uploaded_run(
        b'# memflame-folded 1\n# values: outstanding_bytes\n# capture: {"collector": "malloc"}\nother;program 5\n',
        service="search-api",
        taken_at=datetime(2026, 11, 3, tzinfo=UTC),
    )

    view = ci.get(f"/compare/{two_runs[0].run_id}/{apart.run_id}").json()

    assert view["warnings"] == ["The sides have no frame in common: all of before is gone and all of after is new."]


def test_flows_of_different_length_are_warned_of(
    ci: Any, claimed_run: Callable[..., Run], snapshot_of: Callable[..., Any], two_runs: Runs
) -> None:
    run = claimed_run()
    snapshot_of(run, 1, elapsed_s=2.0)
    snapshot_of(run, 2, elapsed_s=10.0)

    view = ci.get(f"/compare/{run.run_id}@1/{run.run_id}@2?value_type=allocated_bytes").json()

    assert view["warnings"] == ["allocated_bytes adds up while tracing, and before covers 2 s, after 10 s."]
