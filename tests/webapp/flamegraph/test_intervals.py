"""Intervals of a run's flows: exact, made once, never of a level, and only for who may see the run."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from webapp.flamegraph.models import IntervalPayload
from webapp.runs.models import Run
from webapp.teams.models import User

HEAD = '# memflame-folded 1\n# values: outstanding_bytes allocated_bytes\n# capture: {"collector": "malloc"}\n'
BODIES = [
    "main;load;malloc 4096 4096\nmain;parse;malloc 64 100\n",
    "main;load;malloc 4096 4096\nmain;parse;malloc 0 350\n",
    "main;load;malloc 4096 4000\nmain;parse;malloc 0 350\nmain;serve;malloc 7 9007199254700000\n",
]


@pytest.fixture
def run(claimed_run: Callable[..., Run], snapshot_of: Callable[..., Any]) -> Run:
    """A recording with three snapshots; an estimate of the last is below the one before."""
    run = claimed_run(duration_s=30.0)
    for seq, body in enumerate(BODIES, 1):
        snapshot_of(run, seq, (HEAD + body).encode(), elapsed_s=10.0 * seq)
    return run


def payload_header(response: Any) -> dict[str, Any]:
    data = gzip.decompress(response.content)
    (length,) = struct.unpack("<I", data[4:8])
    header: dict[str, Any] = json.loads(data[8 : 8 + length])
    return header


def fetched(client: Client, view: dict[str, Any], stage: str = "overview") -> Any:
    filled = view["payload_url"].format(value_type=view["value_type"], tag=view["tag"], stage=stage)
    return client.get(filled, headers={"Accept-Encoding": "gzip"})


def test_it_is_the_difference_of_the_totals_that_the_time_line_plots(ci: Any, run: Run) -> None:
    totals = [row["totals"] for row in ci.get(f"/runs/{run.run_id}").json()["snapshots"]]

    view = ci.get(f"/runs/{run.run_id}/intervals/1/2").json()

    assert view["value_type"] == "allocated_bytes"
    assert view["total"] == totals[1]["allocated_bytes"] - totals[0]["allocated_bytes"] == 250
    assert (view["since"]["elapsed_s"], view["until"]["elapsed_s"]) == (10.0, 20.0)
    assert (view["is_signed"], view["negative"], view["nodes"]) == (False, [], 4)


def test_graph_and_time_line_tell_one_total_of_a_snapshot(
    ci: Any, run: Run, story: Any, as_user: Callable[[User], Client]
) -> None:
    view = ci.get(f"/runs/{run.run_id}").json()

    for snapshot in view["snapshots"]:
        for value_type, (tag, _) in snapshot["tags"].items():
            row = {"payload_url": view["payload_url"].replace("{seq}", str(snapshot["seq"])), "tag": tag}
            header = payload_header(fetched(as_user(story.alice), row | {"value_type": value_type}))
            assert header["total"] == snapshot["totals"][value_type]


def test_its_payload_is_one_like_any_other_and_never_changes(
    ci: Any, run: Run, story: Any, as_user: Callable[[User], Client]
) -> None:
    view = ci.get(f"/runs/{run.run_id}/intervals/2/3?value_type=allocated_bytes").json()

    response = fetched(as_user(story.alice), view)

    assert response["Cache-Control"] == "private, max-age=31536000, immutable"
    header = payload_header(response)
    assert (header["total"], header["encoding"]) == (9007199254699904, "zigzag")
    assert header["value_type"]["is_signed"] is True


def test_what_is_below_zero_is_told(ci: Any, run: Run) -> None:
    view = ci.get(f"/runs/{run.run_id}/intervals/2/3").json()

    assert (view["is_signed"], view["negative"]) == (True, [1, -96])


def test_it_is_made_once(ci: Any, run: Run, django_assert_max_num_queries: Any) -> None:
    first = ci.get(f"/runs/{run.run_id}/intervals/1/3").json()

    with django_assert_max_num_queries(5):
        assert ci.get(f"/runs/{run.run_id}/intervals/1/3").json() == first
    assert IntervalPayload.objects.count() == 1


def test_a_level_has_no_interval(ci: Any, run: Run) -> None:
    response = ci.get(f"/runs/{run.run_id}/intervals/1/2?value_type=outstanding_bytes")

    assert response.status_code == 422
    assert "outstanding_bytes is a level" in response.json()["error"]
    assert "Flows of this run are allocated_bytes." in response.json()["error"]


@pytest.mark.parametrize(("since", "until", "words"), [(1, 9, "no snapshot 9"), (2, 2, "before it ends"), (3, 1, "3")])
def test_snapshots_that_are_not_there_or_in_no_order_are_named(
    ci: Any, run: Run, since: int, until: int, words: str
) -> None:
    response = ci.get(f"/runs/{run.run_id}/intervals/{since}/{until}")

    assert response.status_code == 404
    assert words in response.json()["error"]


def test_what_each_snapshot_counted_by_itself_is_added_up(ci: Any, run: Run, snapshot_of: Callable[..., Any]) -> None:
    for snapshot in run.snapshots.all():
        snapshot.capture = snapshot.capture | {"interval_s": 10}
        snapshot.save(update_fields=["capture"])

    view = ci.get(f"/runs/{run.run_id}/intervals/1/3").json()

    assert view["total"] == (4096 + 350) + (4000 + 350 + 9007199254700000)


@pytest.mark.parametrize("capture", [{}, {"interval_s": 10}], ids=["cumulative", "by itself"])
def test_a_thinned_tree_is_in_no_interval(ci: Any, run: Run, capture: dict[str, int]) -> None:
    snapshot = run.snapshots.get(seq=2)
    run.snapshots.filter(seq=2).update(tree=f"{snapshot.tree}.thin", capture=snapshot.capture | capture)
    run.snapshots.filter(seq=3).update(capture=run.snapshots.get(seq=3).capture | capture)

    for since, until in ((2, 3), (1, 3)) if capture else ((1, 2), (2, 3)):
        response = ci.get(f"/runs/{run.run_id}/intervals/{since}/{until}")
        is_needed = not capture or since < 2
        assert response.status_code == (404 if is_needed else 200)
        assert not is_needed or "Snapshot 2 of run" in response.json()["error"]


def test_strangers_see_neither_interval_nor_payload(
    ci: Any, other_ci: Any, run: Run, story: Any, as_user: Callable[[User], Client]
) -> None:
    view = ci.get(f"/runs/{run.run_id}/intervals/1/2").json()

    assert other_ci.get(f"/runs/{run.run_id}/intervals/1/2").status_code == 404
    assert fetched(as_user(story.charlie), view).status_code == 404
    assert fetched(Client(), view).status_code == 403
