"""Symbols that are uploaded name frames of runs that are there, and of those to come."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from webapp.compare import backend
from webapp.compare.sides import find_side
from webapp.runs import sweep
from webapp.runs.models import Run, UnnamedModule
from webapp.runs.renaming import name_snapshot
from webapp.teams.models import User

NAMED = {"main;store::load(int);store::take(int);malloc": 4096, "other;malloc": 96}
SYMBOLS = "/projects/search-api/symbols"


@pytest.fixture
def send(ci: Any) -> Callable[..., Any]:
    """Upload a file of symbols to the project."""

    def send(file: Path, name: str = "", api: Any = ci, project: str = "search-api") -> Any:
        return api.send(f"/projects/{project}/symbols?name={name or file.name}", file.read_bytes())

    return send


@pytest.fixture
def run(uploaded_run: Callable[..., Run], folded_of: Callable[..., bytes], program: Any) -> Run:
    """One whose program has no names, and a build id."""
    return uploaded_run(folded_of(program, build_id=program.build_id))


def unnamed(program: Any) -> dict[str, int]:
    return {f"shop+{program.main:#x};shop+{program.load:#x};malloc": 4096, "other;malloc": 96}


@pytest.mark.usefixtures("eager_worker")
@pytest.mark.parametrize("form", ["debug", "whole"])
def test_a_binary_or_its_debug_file_names_a_run_that_was_there(
    form: str, run: Run, program: Any, send: Callable[..., Any], stacks_of: Callable[..., Any]
) -> None:
    before = run.snapshots.get(seq=1)
    assert stacks_of(run) == unnamed(program)

    answer = send(getattr(program, form))

    assert (answer.status_code, answer.json()["runs"]) == (201, 1)
    assert stacks_of(run) == NAMED
    after = run.snapshots.get(seq=1)
    assert (after.revision, before.total_of("outstanding_bytes"), after.total_of("outstanding_bytes")) == (
        2,
        4192,
        4192,
    )
    assert (before.capture["shares"]["unresolved"] > 0.5, after.capture["shares"]["unresolved"]) == (True, 0)


@pytest.mark.usefixtures("eager_worker")
def test_a_run_to_come_has_the_names_at_once(
    uploaded_run: Callable[..., Run], folded_of: Callable[..., bytes], program: Any, send: Callable[..., Any],
    stacks_of: Callable[..., Any],
) -> None:  # fmt: skip
    assert send(program.debug).json()["runs"] == 0

    run = uploaded_run(folded_of(program, build_id=program.build_id))

    assert (stacks_of(run), run.snapshots.get(seq=1).revision) == (NAMED, 1)


@pytest.mark.usefixtures("eager_worker")
def test_a_file_of_another_build_id_gives_no_name_though_it_is_called_the_same(
    uploaded_run: Callable[..., Run], folded_of: Callable[..., bytes], program: Any, send: Callable[..., Any],
    stacks_of: Callable[..., Any],
) -> None:  # fmt: skip
    run = uploaded_run(folded_of(program, build_id="00" * 20))

    assert send(program.whole).json()["runs"] == 0
    assert stacks_of(run) == unnamed(program)


@pytest.mark.usefixtures("eager_worker")
@pytest.mark.parametrize("form", ["heap", "folded"])
def test_without_a_build_id_the_file_name_decides_and_the_capture_says_so(
    form: str, uploaded_run: Callable[..., Run], folded_of: Callable[..., bytes], heap_of: Callable[..., bytes],
    program: Any, send: Callable[..., Any], stacks_of: Callable[..., Any],
) -> None:  # fmt: skip
    run = uploaded_run(heap_of(program) if form == "heap" else folded_of(program, build_id=None))
    before = run.snapshots.get(seq=1)

    assert send(program.debug).json()["runs"] == 1

    after = run.snapshots.get(seq=1)
    assert any(stack.startswith("main;store::load(int);store::take(int)") for stack in stacks_of(run))
    assert [row["total"] for row in after.value_types] == [row["total"] for row in before.value_types]
    assert any("shop" in note and "build id" in note for note in after.capture["notes"])


@pytest.mark.usefixtures("eager_worker")
def test_a_debug_file_makes_names_better_that_a_binary_gave(
    run: Run, program: Any, send: Callable[..., Any], stacks_of: Callable[..., Any], tmp_path: Path
) -> None:
    """What arrived is read again: nothing of the poorer names stays."""
    lean = tmp_path / "shop"
    subprocess.run(["strip", "-g", "-o", lean, program.whole], check=True)

    send(lean)
    assert stacks_of(run) == {"main;store::load(int);malloc": 4096, "other;malloc": 96}
    send(program.debug)

    assert stacks_of(run) == NAMED
    assert run.snapshots.get(seq=1).revision == 3


@pytest.mark.usefixtures("eager_worker")
def test_deleting_a_file_takes_its_names_away(
    ci: Any, run: Run, program: Any, send: Callable[..., Any], stacks_of: Callable[..., Any], storage: Path
) -> None:
    sha256 = send(program.debug).json()["sha256"]

    answer = ci.send(f"{SYMBOLS}/{sha256}", b"", method="DELETE")

    assert answer.status_code == 204
    assert stacks_of(run) == unnamed(program)
    assert [path for path in (storage / "symbols").rglob("*") if path.is_file()] == []


@pytest.mark.usefixtures("eager_worker")
def test_the_same_file_again_changes_nothing(run: Run, program: Any, send: Callable[..., Any]) -> None:
    send(program.debug)

    again = send(program.debug)

    assert (again.status_code, again.json()["runs"]) == (200, 0)
    assert run.snapshots.get(seq=1).revision == 2


@pytest.mark.usefixtures("eager_worker")
def test_projects_do_not_share(
    other_ci: Any, run: Run, program: Any, send: Callable[..., Any], stacks_of: Callable[..., Any]
) -> None:
    refused = send(program.debug, api=other_ci)
    others = send(program.debug, api=other_ci, project="ads-api")

    assert (refused.status_code, others.status_code, others.json()["runs"]) == (404, 201, 0)
    assert stacks_of(run) == unnamed(program)


@pytest.mark.usefixtures("eager_worker")
def test_a_preview_gets_names_when_it_is_saved_to_the_project(
    story: Any, as_user: Callable[[User], Client], uploaded_run: Callable[..., Run], folded_of: Callable[..., bytes],
    program: Any, send: Callable[..., Any], stacks_of: Callable[..., Any],
) -> None:  # fmt: skip
    send(program.debug)
    run = uploaded_run(folded_of(program, build_id=program.build_id), project=None)
    assert stacks_of(run) == unnamed(program)

    as_user(story.alice).post(f"/runs/{run.run_id}/save", {"project": "search-api"})

    assert stacks_of(run) == NAMED


def test_a_lost_message_and_a_worker_that_died_only_delay(
    run: Run, program: Any, send: Callable[..., Any], stacks_of: Callable[..., Any], broker: Path
) -> None:
    assert send(program.debug).json()["runs"] == 1  # nobody takes the message
    modules = UnnamedModule.objects.filter(snapshot__run=run)
    assert sweep.nudge_again(timezone.now() + timedelta(minutes=1)) == 1

    modules.update(due_at=timezone.now() + timedelta(minutes=5), attempts=1)  # as a worker has it that died
    name_snapshot(run.snapshots.get(seq=1).pk)
    assert stacks_of(run) == unnamed(program)
    modules.update(due_at=timezone.now() - timedelta(minutes=1))
    name_snapshot(run.snapshots.get(seq=1).pk)
    name_snapshot(run.snapshots.get(seq=1).pk)

    assert (stacks_of(run), run.snapshots.get(seq=1).revision) == (NAMED, 2)
    assert not modules.exclude(due_at=None).exists()


def test_a_snapshot_that_ends_its_worker_is_given_up(run: Run, program: Any, send: Callable[..., Any]) -> None:
    send(program.debug)
    modules = UnnamedModule.objects.filter(snapshot__run=run)
    modules.update(attempts=UnnamedModule.MAX_ATTEMPTS)

    name_snapshot(run.snapshots.get(seq=1).pk)

    assert run.snapshots.get(seq=1).revision == 1
    assert not modules.exclude(due_at=None).exists()


@pytest.mark.usefixtures("eager_worker")
def test_an_old_payload_is_there_for_one_revision_and_then_leads_to_the_newest(
    story: Any, as_user: Callable[[User], Client], ci: Any, run: Run, program: Any, send: Callable[..., Any]
) -> None:
    client = as_user(story.alice)
    first = address_of(ci, run)
    sha256 = send(program.debug).json()["sha256"]

    assert address_of(ci, run) != first
    assert client.get(first).status_code == 200
    ci.send(f"{SYMBOLS}/{sha256}", b"", method="DELETE")
    assert client.get(first, follow=True).redirect_chain == [(address_of(ci, run), 302)]
    assert client.get(first.replace("/1-", "/9-")).status_code == 404


def address_of(ci: Any, run: Run) -> str:
    """Of the overview that its page draws."""
    view = ci.get(f"/runs/{run.run_id}").json()
    tag, _ = view["snapshots"][0]["tags"][run.value_type]
    parts = {"seq": 1, "value_type": run.value_type, "tag": tag, "stage": "overview"}
    return str(view["payload_url"]).format(**parts)


@pytest.mark.usefixtures("eager_worker")
def test_a_difference_that_was_merged_before_is_merged_again_with_the_names(
    story: Any, run: Run, program: Any, send: Callable[..., Any]
) -> None:
    def merged() -> tuple[str, list[str]]:
        side = find_side(story.alice, run.run_id)
        row = backend.diff_with_table(side, side, run.value_type)
        return row.tag, [name for name, *_ in row.table["rows"]]

    before = merged()
    send(program.debug)
    after = merged()

    assert before[0].startswith("1-1-") and after[0].startswith("2-2-")
    assert f"shop+{program.load:#x}" in before[1] and "store::load(int)" in after[1]


@pytest.mark.usefixtures("eager_worker")
def test_a_download_has_the_names(
    story: Any, as_user: Callable[[User], Client], run: Run, program: Any, send: Callable[..., Any]
) -> None:
    send(program.debug)

    response = as_user(story.alice).get(f"/runs/{run.run_id}/export/1/folded")

    assert b"main;store::load(int);store::take(int);malloc 4096" in b"".join(response.streaming_content)  # type: ignore[attr-defined]


@pytest.mark.usefixtures("eager_worker")
def test_nothing_is_left_of_a_run_that_is_deleted(
    run: Run, program: Any, send: Callable[..., Any], storage: Path
) -> None:
    from webapp.runs.uploads import delete_run

    send(program.debug)
    delete_run(run)

    left = [
        path for kind in ("received", "trees", "payloads") for path in (storage / kind).rglob("*") if path.is_file()
    ]
    assert left == []
    assert not UnnamedModule.objects.exists()


@pytest.mark.usefixtures("eager_worker")
def test_a_leak_report_without_a_symbolizer_gets_names_by_the_build_id_that_it_prints(
    uploaded_run: Callable[..., Run], program: Any, send: Callable[..., Any], stacks_of: Callable[..., Any]
) -> None:
    frames = [
        f"    #0 0x55d0  (/srv/shop+{place:#x}) (BuildId: {program.build_id})" for place in (program.load, program.main)
    ]
    leak = "Direct leak of 32 byte(s) in 2 object(s) allocated from:"
    run = uploaded_run("\n".join(["==7==ERROR: LeakSanitizer: detected memory leaks", "", leak, *frames, ""]).encode())

    assert send(program.debug, name="renamed").json()["runs"] == 1

    assert stacks_of(run) == {"main;store::load(int);store::take(int)": 32}


@pytest.mark.usefixtures("eager_worker")
def test_each_snapshot_of_one_file_gets_its_names(
    uploaded_run: Callable[..., Run], program: Any, send: Callable[..., Any]
) -> None:
    def report(size: int) -> str:
        frame = f"    #0 0x55d0  (/srv/shop+{program.load:#x}) (BuildId: {program.build_id})"
        leak = f"Direct leak of {size} byte(s) in 1 object(s) allocated from:"
        return "\n".join(["==7==ERROR: LeakSanitizer: detected memory leaks", "", leak, frame, "", ""])

    run = uploaded_run((report(32) + report(64)).encode())
    assert run.snapshots.count() == 2

    assert send(program.debug).json()["runs"] == 1

    found = [(snapshot.revision, snapshot.total_of("leaked_bytes")) for snapshot in run.snapshots.all()]
    assert found == [(2, 32), (2, 64)]
    assert [len(snapshot.unnamed_modules.filter(left=0)) for snapshot in run.snapshots.all()] == [1, 1]
