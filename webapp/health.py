"""/livez: the process answers. /readyz: all that a run needs is there, or the answer names what is missing."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from webapp.runs.models import Snapshot, Worker

WORKER_SILENT_AFTER = timedelta(seconds=20)
LONGEST_QUEUE_AGE = timedelta(seconds=120)


def livez(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:
    """200 with {"status": "ok"}, or 503 with {"status": "not ready", "missing": {check: sentence}}."""
    missing = {name: sentence for name, check in CHECKS.items() if (sentence := _outcome(check))}
    if missing:
        return JsonResponse({"status": "not ready", "missing": missing}, status=503)
    return JsonResponse({"status": "ok", "checks": list(CHECKS)})


def _outcome(check: Callable[[], str]) -> str:
    try:
        return check()
    except DatabaseError as error:
        return f"the database did not answer: {error}".strip()
    except OSError as error:
        return f"the storage failed: {error}"


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    names = ", ".join(f"{migration.app_label}.{migration.name}" for migration, _ in waiting)
    return f"not applied: {names}; run manage.py migrate" if names else ""


def _storage() -> str:
    name = default_storage.save(f"readyz/{secrets.token_hex(8)}", ContentFile(b"ready?"))
    default_storage.delete(name)
    return ""


def _ingest_worker() -> str:
    worker = Worker.objects.filter(name="ingest").first()
    if worker is None:
        return "no ingest worker was ever seen: celery -A webapp.celery worker -Q ingest"
    silent = timezone.now() - worker.seen_at
    return f"the ingest worker was last seen {silent.total_seconds():.0f} s ago" if silent > WORKER_SILENT_AFTER else ""


def _ingest_queue() -> str:
    oldest = Snapshot.objects.waiting().order_by("received_at").values_list("received_at", flat=True).first()
    age = timezone.now() - oldest if oldest else timedelta()
    if age <= LONGEST_QUEUE_AGE:
        return ""
    return f"a snapshot has waited {age.total_seconds():.0f} s to be read, the limit is {LONGEST_QUEUE_AGE.seconds} s"


CHECKS: dict[str, Callable[[], str]] = {
    "database": _database,
    "migrations": _migrations,
    "storage": _storage,
    "ingest_worker": _ingest_worker,
    "ingest_queue": _ingest_queue,
}
