"""Nudges: an id in the right queue once the transaction is committed, and no failure when the broker is away."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from tracer import protocol
from webapp.runs.models import Run, State

pytestmark = pytest.mark.django_db(transaction=True)


def _messages(broker: Path, queue: str) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(broker.glob(f"q-{queue}/ready/*.msg"))]


def test_the_hosts_queue_gets_the_run_id_and_nothing_else(
    story: Any, queued_run: Callable[..., Run], broker: Path
) -> None:
    run = queued_run()

    (message,) = _messages(broker, protocol.host_queue(story.host.host_id))

    arguments, keywords, _ = json.loads(base64.b64decode(message["body"]))
    assert message["headers"]["task"] == protocol.TASK_RUN_READY
    assert (arguments, keywords) == ([run.run_id], {})


def test_nothing_is_sent_for_a_run_that_was_rolled_back(
    story: Any, queued_run: Callable[..., Run], broker: Path
) -> None:
    with pytest.raises(RuntimeError), transaction.atomic():
        queued_run()
        raise RuntimeError

    assert _messages(broker, protocol.host_queue(story.host.host_id)) == []


def test_a_broker_that_is_away_fails_no_request(queued_run: Callable[..., Run], broker: Path) -> None:
    broker.write_text("a file where the folder should be")

    run = queued_run()

    run.refresh_from_db()
    assert run.state == State.QUEUED
