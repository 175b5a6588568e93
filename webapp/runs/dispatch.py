"""Nudges after commit: a message carries an id only; a lost one only delays, since agents ask and the sweep repeats."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from kombu.exceptions import OperationalError

from tracer import protocol
from webapp.celery import app
from webapp.runs.models import Run

log = logging.getLogger(__name__)

NUDGE_EXPIRES_S = 60  # by then the agent has asked by itself, or the sweep has nudged again


def nudge_host(run: Run) -> None:
    """Tell the run's host, once the transaction is committed, that it waits."""
    if run.host is not None:
        _send(protocol.TASK_RUN_READY, run.run_id, queue=protocol.host_queue(run.host.host_id))


def nudge_ingest(snapshot_pk: int) -> None:
    """Tell the ingest workers, once the transaction is committed, that a snapshot is on disk."""
    _send(protocol.TASK_INGEST_SNAPSHOT, snapshot_pk, queue=protocol.INGEST_QUEUE)


def _send(task: str, argument: Any, *, queue: str) -> None:
    transaction.on_commit(lambda: _send_now(task, argument, queue), robust=True)


def _send_now(task: str, argument: Any, queue: str) -> None:
    try:
        app.signature(task, (argument,)).apply_async(queue=queue, expires=NUDGE_EXPIRES_S, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("the broker did not take %s for %s, it will be sent again: %s", task, argument, error)
