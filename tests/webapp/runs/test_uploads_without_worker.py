"""Uploads while the ingest worker or the broker is away: what arrived is kept, and read later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webapp.runs import uploads
from webapp.runs.models import Run, State

PATH = "/projects/search-api/uploads"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "WAIT_FOR_INGEST_S", 0.0)


def test_what_is_not_read_in_time_is_answered_with_202_and_kept(ci: Any, leaky_folded: bytes) -> None:
    """The worker is away: nothing takes the message, and the site does not wait for long."""

    answer = ci.send(PATH, leaky_folded)

    run = Run.objects.get()
    assert (answer.status_code, answer.json()["run"]) == (202, run.run_id)
    assert run.state == State.INGESTING


def test_what_can_not_be_read_after_a_202_is_kept_with_its_reason(ci: Any, ingest: Callable[[Run], None]) -> None:
    ci.send(PATH, b"\x00\x01\x02" * 1000)
    run = Run.objects.get()

    ingest(run)

    run.refresh_from_db()
    assert run.state == State.FAILED
    assert run.reason.startswith("the file is none of the known formats")


def test_a_broker_that_is_down_fails_no_upload(
    ci: Any, leaky_folded: bytes, broker: Path, ingest: Callable[[Run], None]
) -> None:
    """A file stands where the broker's folder should be, so that no message can be left."""
    broker.write_text("not a folder")

    answer = ci.send(PATH, leaky_folded)

    assert answer.status_code == 202
    ingest(Run.objects.get())
    assert Run.objects.get().state == State.READY
