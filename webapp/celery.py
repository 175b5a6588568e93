"""The site's Celery app: it nudges hosts and runs the ingest worker; messages carry ids only, the database decides."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery, bootsteps
from django.conf import settings

import tracer.broker  # noqa: F401 - registers the transport memflame-files://
from tracer import protocol

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

WORKER_SEEN_EVERY_S = 5.0

app = Celery("memflame")
app.conf.update(
    broker_url=settings.BROKER_URL,
    imports=("webapp.runs.ingest", "webapp.runs.renaming"),
    task_default_queue=protocol.INGEST_QUEUE,
    task_serializer="json",
    accept_content=["json"],
    task_ignore_result=True,  # the Run row is the truth
    # A lost or doubled message does no harm: claims decide, the sweep sends again. So nothing is acknowledged late.
    task_acks_late=False,
    task_reject_on_worker_lost=False,
    task_soft_time_limit=600,
    task_time_limit=630,
    # Not 1: an acknowledgement that fails while Redis restarts would keep the one place taken for ever.
    worker_prefetch_multiplier=0,
    worker_max_tasks_per_child=20,  # returns the memory that large trees took
    worker_soft_shutdown_timeout=8,
    worker_enable_remote_control=False,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_connection_timeout=2,  # a nudge must not hold a request: agents poll anyway
    broker_transport_options={"socket_connect_timeout": 2, "socket_timeout": 5} if settings.REDIS_URL else {},
)


class SeenStep(bootsteps.StartStopStep):
    """Writes every few seconds that this worker lives, for /readyz."""

    requires = {"celery.worker.components:Timer"}

    def __init__(self, worker: Any, **options: Any) -> None:
        self.timer: Any = None

    def start(self, worker: Any) -> None:
        _touch()
        self.timer = worker.timer.call_repeatedly(WORKER_SEEN_EVERY_S, _touch)

    def stop(self, worker: Any) -> None:
        if self.timer is not None:
            self.timer.cancel()


def _touch() -> None:
    from django.db import DatabaseError, connection

    from webapp.runs.models import Worker

    try:
        Worker.touch("ingest")
    except DatabaseError as error:  # /readyz will say that the worker is not seen
        app.log.get_default_logger().warning("could not write that the ingest worker lives: %s", error)
    finally:
        connection.close()  # the pool forks: children must not inherit it


app.steps["worker"].add(SeenStep)
