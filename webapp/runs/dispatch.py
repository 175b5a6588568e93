"""Nudges after commit: a message carries an id only; a lost one only delays, since agents ask and the sweep repeats."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from kombu.exceptions import OperationalError

from tracer import protocol
from webapp.celery import app
from webapp.runs.models import Estimate, Run

log = logging.getLogger(__name__)

NUDGE_EXPIRES_S = 60  # by then the agent has asked by itself, or the sweep has nudged again


def nudge_host(run: Run) -> None:
    """Tell the run's host, once the transaction is committed, that it waits."""
    transaction.on_commit(lambda: tell_host(run), robust=True)


def nudge_estimate(estimate: Estimate) -> None:
    """Tell the estimate's host, once the transaction is committed, that it waits."""
    queue = protocol.host_queue(estimate.host.host_id)
    transaction.on_commit(lambda: _send(protocol.TASK_RUN_READY, estimate.estimate_id, queue=queue), robust=True)


def nudge_ingest(snapshot_pk: int) -> None:
    """Tell the ingest workers, once the transaction is committed, that a snapshot is on disk."""
    transaction.on_commit(lambda: tell_ingest(snapshot_pk), robust=True)


def tell_host(run: Run) -> bool:
    """Now; False if the broker did not take it."""
    if run.host is None:
        return True
    return _send(protocol.TASK_RUN_READY, run.run_id, queue=protocol.host_queue(run.host.host_id))


def tell_ingest(snapshot_pk: int) -> bool:
    """Now; False if the broker did not take it."""
    return _send(protocol.TASK_INGEST_SNAPSHOT, snapshot_pk, queue=protocol.INGEST_QUEUE)


def tell_naming(snapshot_pk: int) -> bool:
    """Now; False if the broker did not take it."""
    return _send(protocol.TASK_NAME_SNAPSHOT, snapshot_pk, queue=protocol.INGEST_QUEUE)


def _send(task: str, argument: Any, *, queue: str) -> bool:
    try:
        app.signature(task, (argument,)).apply_async(queue=queue, expires=NUDGE_EXPIRES_S, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("the broker did not take %s for %s, it will be sent again: %s", task, argument, error)
        return False
    return True
