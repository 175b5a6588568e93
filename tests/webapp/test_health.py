"""/livez and /readyz: 200 when all is there, else 503 naming what is missing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from webapp import health
from webapp.runs.models import Run, Snapshot, Worker


@pytest.fixture
def worker(db: None) -> None:
    Worker.touch("ingest")


def _missing(client: Client) -> dict[str, str]:
    answer = client.get("/readyz")
    assert answer.status_code == 503
    missing: dict[str, str] = answer.json()["missing"]
    return missing


def test_livez_asks_no_database(client: Client, db: None, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        answer = client.get("/livez")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_it_is_ready_when_all_is_there(client: Client, worker: None, storage: Path) -> None:
    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["checks"] == ["database", "migrations", "storage", "ingest_worker", "ingest_queue"]
    assert [path for path in storage.rglob("*") if path.is_file()] == []


def test_a_worker_that_was_never_seen_is_named(client: Client, db: None) -> None:
    assert _missing(client) == {
        "ingest_worker": "no ingest worker was ever seen: celery -A webapp.celery worker -Q ingest"
    }


def test_a_worker_that_fell_silent_is_named(client: Client, worker: None) -> None:
    Worker.objects.update(seen_at=timezone.now() - timedelta(seconds=90))

    assert _missing(client)["ingest_worker"].startswith("the ingest worker was last seen 9")


def test_a_snapshot_that_waits_too_long_is_named(
    client: Client, worker: None, uploaded_run: Callable[..., Run]
) -> None:
    uploaded_run()
    Snapshot.objects.update(ingested_at=None, received_at=timezone.now() - timedelta(minutes=5))

    assert _missing(client)["ingest_queue"].startswith("a snapshot has waited 300 s to be read, the limit is 120 s")


def test_a_storage_that_can_not_be_written_is_named(client: Client, worker: None, storage: Path) -> None:
    storage.parent.mkdir(exist_ok=True)
    storage.write_text("a file where the folder should be")

    assert _missing(client)["storage"].startswith("the storage failed: ")


@pytest.mark.django_db(transaction=True)
def test_a_migration_that_waits_is_named(client: Client) -> None:
    Worker.touch("ingest")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, app, name, applied FROM django_migrations WHERE app = 'runs' ORDER BY id DESC LIMIT 1"
        )
        row = cursor.fetchone()
        cursor.execute("DELETE FROM django_migrations WHERE id = %s", [row[0]])
    try:
        assert _missing(client) == {"migrations": f"not applied: runs.{row[2]}; run manage.py migrate"}
    finally:
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO django_migrations (id, app, name, applied) VALUES (%s, %s, %s, %s)", row)


def test_every_check_is_named_in_words() -> None:
    assert all(check.replace("_", "").isalpha() for check in health.CHECKS)
