"""What time alone decides, and the management command that looks every two seconds."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from tracer import protocol
from webapp import bodies
from webapp.runs import states, uploads
from webapp.runs.models import Run, State, Worker
from webapp.runs.sweep import nudge_again, sweep

ATTEMPT = "attempt-0001"


def _messages(broker: Path, queue: str) -> list[str]:
    return [path.read_text() for path in broker.rglob("*.msg") if queue in str(path)]


def _is_soon(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_overdue_runs_fail_and_keep_their_snapshots(claimed_run: Callable[..., Run], snapshot_of: Any) -> None:
    run = claimed_run()
    snapshot_of(run)

    swept = sweep(timezone.now() + timedelta(seconds=protocol.LEASE_S + 1))

    run.refresh_from_db()
    assert swept.failed == [run.run_id]
    assert (run.state, run.snapshot_count) == (State.FAILED, 1)
    assert run.reason.endswith("The snapshot it sent is kept.")


def test_an_expired_preview_goes_with_its_files(uploaded_run: Callable[..., Run], storage: Path) -> None:
    kept, expired = uploaded_run(project=None), uploaded_run(project=None)
    Run.objects.filter(pk=expired.pk).update(preview_until=timezone.now() - timedelta(seconds=1))

    swept = sweep(timezone.now())

    assert swept.previews_deleted == [expired.run_id]
    assert list(Run.objects.all()) == [kept]
    assert not [path for path in storage.rglob("*") if expired.run_id in str(path)]
    assert [path for path in storage.rglob("*") if kept.run_id in str(path)]


def test_a_run_of_a_project_is_never_swept_away(uploaded_run: Callable[..., Run]) -> None:
    run = uploaded_run()
    Run.objects.filter(pk=run.pk).update(preview_until=timezone.now() - timedelta(days=9))

    sweep(timezone.now())

    assert Run.objects.filter(pk=run.pk).exists()


def test_a_body_that_was_cut_off_is_deleted_after_an_hour(db: None) -> None:
    folder = bodies.temporary_folder()
    folder.mkdir(parents=True)
    for name, age_s in (("old", 3700), ("new", 60)):
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, (time.time() - age_s, time.time() - age_s))

    assert sweep(timezone.now()).temporaries_deleted == 1
    assert [path.name for path in folder.iterdir()] == ["new"]


def test_a_run_whose_last_snapshot_never_comes_is_ready_with_what_there_is(
    claimed_run: Callable[..., Run], snapshot_of: Any
) -> None:
    run = claimed_run(duration_s=20.0, snapshot_every_s=10.0)
    snapshot_of(run)
    states.finish(run, ATTEMPT, "done", snapshots=2)

    assert sweep(timezone.now() + timedelta(minutes=1)).settled == []
    assert sweep(timezone.now() + timedelta(minutes=11)).settled == [run.run_id]

    run.refresh_from_db()
    assert (run.state, run.reason) == (State.READY, "1 of 2 snapshots arrived.")


def test_a_run_of_which_nothing_came_has_failed(claimed_run: Callable[..., Run]) -> None:
    run = claimed_run()
    states.finish(run, ATTEMPT, "done", snapshots=2)

    sweep(timezone.now() + timedelta(minutes=11))

    run.refresh_from_db()
    assert (run.state, run.reason) == (State.FAILED, "0 of 2 snapshots arrived.")


@pytest.mark.django_db(transaction=True)
def test_what_waits_is_nudged_again(
    queued_run: Callable[..., Run], claimed_run: Callable[..., Run], story: Any, broker: Path, leaky_folded: bytes
) -> None:
    waiting, taken = queued_run(), claimed_run()
    with uploads.received(io.BytesIO(leaky_folded)) as body:
        uploads.keep_snapshot(taken, 1, body, elapsed_s=1, encoding="")
    queue = protocol.host_queue(story.host.host_id)
    before = len(_messages(broker, queue)), len(_messages(broker, "ingest"))

    assert nudge_again(timezone.now()) == 0
    assert nudge_again(timezone.now() + timedelta(seconds=11)) == 2

    assert (len(_messages(broker, queue)), len(_messages(broker, "ingest"))) == (before[0] + 1, before[1] + 1)
    assert Run.objects.get(pk=waiting.pk).state == State.QUEUED


@pytest.mark.django_db(transaction=True)
def test_one_round_can_be_asked_for(claimed_run: Callable[..., Run]) -> None:
    run = claimed_run()
    Run.objects.filter(pk=run.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    out = io.StringIO()

    call_command("sweep", "--once", stdout=out)

    assert run.run_id in out.getvalue()


def _database_url() -> str:
    """The test's own database, for another process."""
    its = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite://{its['NAME']}"
    return f"postgres://{its['USER']}:{its['PASSWORD']}@{its['HOST']}:{its['PORT']}/{its['NAME']}"


@pytest.mark.django_db(transaction=True)
def test_the_command_sweeps_until_it_is_told_to_stop(claimed_run: Callable[..., Run], tmp_path: Path) -> None:
    run = claimed_run()
    Run.objects.filter(pk=run.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    env = {**os.environ, "MEMFLAME_DATABASE_URL": _database_url(), "MEMFLAME_DATA": str(tmp_path)}
    process = subprocess.Popen([sys.executable, str(site_settings.BASE_DIR / "manage.py"), "sweep"], env=env)
    try:
        assert _is_soon(lambda: Run.objects.get(pk=run.pk).state == State.FAILED)
        assert _is_soon(lambda: Worker.objects.filter(name="sweep").exists())
    finally:
        process.send_signal(signal.SIGTERM)

    assert process.wait(10) == 0
