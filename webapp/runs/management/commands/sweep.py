"""`manage.py sweep`: every two seconds, what time alone decides about runs."""

from __future__ import annotations

import logging
import signal
import threading
import time
from argparse import ArgumentParser
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from webapp.runs.models import Worker
from webapp.runs.sweep import do_chores, nudge_again, sweep

log = logging.getLogger(__name__)

EVERY_S = 2.0
NUDGE_EVERY_S = 30.0  # a nudge lives for 60 s, so that at most two of a kind wait in a slow queue


class Command(BaseCommand):
    help = "Fail runs whose agent is silent, delete expired previews, repeat lost nudges; runs until SIGTERM"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="one round, then end")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["once"]:
            now = timezone.now()
            self.stdout.write(f"{sweep(now)}, {nudge_again(now)} nudged, {do_chores(now)}")
            return
        _run(_stop_on_signal())


def _stop_on_signal() -> threading.Event:
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    return stop


def _run(stop: threading.Event) -> None:
    nudge_at = 0.0
    while not stop.is_set():
        begin = time.monotonic()
        is_due = begin >= nudge_at
        if _round(is_nudging=is_due) and is_due:
            nudge_at = begin + NUDGE_EVERY_S
        stop.wait(max(0.0, begin + EVERY_S - time.monotonic()))


def _round(*, is_nudging: bool) -> bool:
    """A database or disk that is away is said and tried again: the sweep outlives both."""
    close_old_connections()
    now = timezone.now()
    try:
        swept = sweep(now)
        if is_nudging:
            nudge_again(now)
            if done := do_chores(now):
                log.info("%s", done)
        Worker.touch("sweep")
    except (DatabaseError, OSError) as error:
        log.warning("the sweep was cut short: %s", error)
        return False
    if swept:
        log.info("%s", swept)
    return True
