"""Tells open run pages to look at the database again; a notice that is lost only delays them by their own look."""

from __future__ import annotations

import logging

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

log = logging.getLogger(__name__)


def group_of(run_id: str) -> str:
    return f"run.{run_id}"


def run_changed(run_id: str) -> None:
    """Once the transaction is committed; reaches this process only when the channel layer is in memory."""
    transaction.on_commit(lambda: _send(run_id), robust=True)


def _send(run_id: str) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        async_to_sync(layer.group_send)(group_of(run_id), {"type": "run.changed"})
    except Exception as error:  # whatever the layer's client raises: pages look by themselves
        log.warning("open pages of %s were not told of a change: %s", run_id, error)
