"""Old pushes thin out to their overviews; totals stay what they were."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.utils import timezone

from tracer.profile import tree
from webapp.pushes import thinning
from webapp.pushes.models import Push, RollingRun
from webapp.runs.models import Run, Snapshot

STACKS = 4200  # a few more nodes than a small tree has, each under a 2000th of the total


@pytest.fixture
def pushed(alloy: Any, heap: Any, the_run: Callable[[], Run]) -> Run:
    """Three snapshots of one run, with trees that an overview does not show whole."""
    for blocks in (1, 2, 3):
        alloy.push(heap(blocks, stacks=STACKS), service_name="shop")
    return the_run()


def _tomorrow() -> Any:
    return timezone.now() + timedelta(days=1, minutes=1)


def _tree(snapshot: Snapshot) -> tree.CallTree:
    with default_storage.open(snapshot.tree) as file:
        return tree.unpack(file.read())


def test_old_trees_thin_out_but_the_first_and_the_newest(pushed: Run) -> None:
    assert thinning.thin_out(timezone.now()) == 0
    assert thinning.thin_out(_tomorrow()) == 1
    assert thinning.thin_out(_tomorrow()) == 0

    assert ["thinned" in snapshot.capture for snapshot in pushed.snapshots.all()] == [False, True, False]
    assert RollingRun.objects.get().thinned == 1


def test_totals_and_functions_stay_and_the_rest_takes_no_room(
    pushed: Run, payload_header: Callable[[bytes], dict[str, Any]]
) -> None:
    before = pushed.snapshots.get(seq=2)
    payload, files = before.payloads.get(value_type="inuse_space"), before.file_names()
    functions = payload.functions

    thinning.thin_out(_tomorrow())

    after, small = pushed.snapshots.get(seq=2), _tree(pushed.snapshots.get(seq=2))
    payload.refresh_from_db()
    header = payload_header(bytes(payload.overview))
    assert (payload.functions, payload.overview_is_full, payload.file) == (functions, True, "")
    assert header["overview"]["full_nodes"] == before.nodes > header["n"]
    assert header["total"] == before.value_types[0]["total"]
    assert len(small) == after.nodes < before.nodes
    assert [small.total(column) for column in range(4)] == [row["total"] for row in after.value_types]
    assert after.value_types == before.value_types
    assert after.file_names() == [after.tree]
    assert not any(default_storage.exists(name) for name in files)


def test_pages_say_what_was_thinned_and_offer_what_is_left(
    pushed: Run, story: Any, ci: Any, as_user: Callable[..., Client]
) -> None:
    browser, before = as_user(story.alice), pushed.snapshots.get(seq=2)
    thinning.thin_out(_tomorrow())

    page = browser.get(f"/runs/{pushed.run_id}?s=2").content.decode()
    assert f"The whole tree of this moment, {before.nodes:,} nodes, was thinned out on" in page
    assert "3 snapshots</span>, 1 thinned" in page
    payload = f"/runs/{pushed.run_id}/payload/2/inuse_space/{before.payloads.get(value_type='inuse_space').tag}"
    assert browser.get(f"{payload}/full").content == browser.get(f"{payload}/overview").content
    downloads = [f"/runs/{pushed.run_id}/received/2", f"/runs/{pushed.run_id}/export/2/pprof"]
    assert [browser.get(address).status_code for address in downloads] == [404, 404]
    compared = ci.get(f"/compare/{pushed.run_id}@2/{pushed.run_id}@3?value_type=inuse_space").json()
    assert (compared["before"]["total"], compared["after"]["total"]) == (2000 * STACKS, 3000 * STACKS)
    assert any("thinned out" in warning for warning in compared["warnings"])


def test_a_project_over_its_nodes_thins_its_oldest(pushed: Run, settings: Any) -> None:
    settings.PUSH_NODES = 1000

    assert thinning.thin_out(timezone.now()) == 2

    assert list(Push.objects.filter(thinned_at=None).values_list("snapshot__seq", flat=True)) == [3]


def test_a_damaged_tree_does_not_hold_up_the_others(pushed: Run, settings: Any) -> None:
    settings.PUSH_NODES = 1000
    Path(default_storage.path(pushed.snapshots.get(seq=1).tree)).write_bytes(b"no tree")

    thinning.thin_out(timezone.now())

    assert ["thinned" in snapshot.capture for snapshot in pushed.snapshots.all()] == [False, True, False]
    assert thinning.thin_out(timezone.now()) == 0


def test_a_small_tree_stays_whole(alloy: Any, heap: Any, the_run: Callable[[], Run]) -> None:
    for blocks in (1, 2, 3):
        alloy.push(heap(blocks), service_name="shop")
    run = the_run()
    before = run.snapshots.get(seq=2)

    thinning.thin_out(_tomorrow())

    after = run.snapshots.get(seq=2)
    assert (after.nodes, after.tree, after.received) == (before.nodes, before.tree, "")
    assert default_storage.exists(after.tree)
