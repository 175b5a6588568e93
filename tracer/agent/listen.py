"""The Celery worker on a traced host: turns messages of this host's queue into lines on standard output.

    in   {"broker": "memflame-files:///srv/memflame/broker", "queue": "host.9f2c…"}
    out  r-8f3kq

It is a process of its own, so that what reads the broker holds no token and starts no recording, and can be started
again when it hangs. A line only wakes the agent, which then asks the site; the run id in it is for the log.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import warnings
from types import FrameType
from typing import Any

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import worker_ready
from kombu import Queue

import tracer.broker  # noqa: F401  registers memflame-files://
from tracer.agent.children import read_task
from tracer.protocol import TASK_RUN_READY

SETTINGS: dict[str, Any] = {
    "accept_content": ["json"],
    "task_serializer": "json",
    "task_ignore_result": True,
    "task_create_missing_queues": False,
    # No limit: a nudge whose acknowledgement fails, because Redis ended at that moment, would count against a limit
    # of one for ever, and the worker would hear nothing more.
    "worker_prefetch_multiplier": 0,
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
    "worker_redirect_stdouts": False,
    "worker_hijack_root_logger": False,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,  # the default gives up after 100 tries
}


def make_app(broker: str, queue: str) -> Celery:
    """A Celery app with one queue and one task; it knows nothing of Django or the site."""
    app = Celery("memflame-agent", broker=broker, set_as_current=False)
    app.conf.update(SETTINGS, task_queues=[Queue(queue)], task_default_queue=queue)
    app.task(name=TASK_RUN_READY)(run_ready)
    return app


def run_ready(run: str) -> None:
    shown = "".join(c for c in str(run)[:40] if c.isalnum() or c in "-_")
    os.write(1, f"{shown}\n".encode())


def _end_at_once(number: int, frame: FrameType | None) -> None:
    """Nothing is worth a warm shutdown, whose farewell to a closed terminal would fail and keep us alive."""
    os._exit(0)


@worker_ready.connect
def _listen_to_signals(**_: Any) -> None:
    signal.signal(signal.SIGTERM, _end_at_once)  # after Celery has set its own


def main() -> int:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    warnings.simplefilter("ignore", SecurityWarning)  # of running as root, which an agent does
    task = read_task()
    worker = make_app(task["broker"], task["queue"]).Worker(
        queues=[task["queue"]],
        pool="solo",
        concurrency=1,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main())
