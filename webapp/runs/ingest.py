"""The ingest worker: a snapshot's bytes to its call tree and the payloads of its value types."""

from __future__ import annotations

import gzip
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import xxhash
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone

from tracer import protocol
from tracer.profile import tree
from tracer.profile.errors import LimitExceeded, ProfileError
from tracer.profile.formats import read_profile
from tracer.profile.model import Profile
from tracer.profile.tree import payload
from webapp.celery import app
from webapp.runs import facts, functions, notify, states, told
from webapp.runs.models import Payload, Run, Snapshot

log = logging.getLogger(__name__)

REVISION = 1  # of the tree made of what arrived; new symbols will make others
MAX_ATTEMPTS = 3  # a file that ended the worker this often is not tried again
RENEW_CLAIM_EVERY_S = 5.0
GZIP_LEVEL = 6
ERROR_CHARACTERS = 500


@app.task(name=protocol.TASK_INGEST_SNAPSHOT, ignore_result=True)
def ingest_snapshot(snapshot_pk: int) -> None:
    """Read one snapshot, once: a second message for it finds it read, or in another worker's hand."""
    snapshot = _claim(snapshot_pk)
    if snapshot is None:
        return
    if snapshot.ingest_attempts > MAX_ATTEMPTS:
        _refuse(snapshot, f"reading it ended the worker {MAX_ATTEMPTS} times, it may need too much memory")
    else:
        with _claim_renewed(snapshot_pk):
            _read_or_refuse(snapshot)
    states.settle(snapshot.run_id)
    notify.run_changed(snapshot.run.run_id)


def _claim(snapshot_pk: int) -> Snapshot | None:
    now = timezone.now()
    waiting = Snapshot.objects.claimable(now).filter(pk=snapshot_pk)
    if waiting.update(ingest_claimed_at=now, ingest_attempts=F("ingest_attempts") + 1) != 1:
        return None
    return Snapshot.objects.select_related("run").get(pk=snapshot_pk)


@contextmanager
def _claim_renewed(snapshot_pk: int) -> Iterator[None]:
    """Keep the claim fresh while a large file is read, so that it falls to another worker only if this one dies."""
    done = threading.Event()

    def renew() -> None:
        while not done.wait(RENEW_CLAIM_EVERY_S):
            Snapshot.objects.waiting().filter(pk=snapshot_pk).update(ingest_claimed_at=timezone.now())
        connection.close()  # this thread's own

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _read_or_refuse(snapshot: Snapshot) -> None:
    """Leave the claim to expire when database or disk are away, so that another try comes; our own faults end it."""
    try:
        _read(snapshot)
    except (DatabaseError, OSError):
        raise
    except Exception as error:
        log.exception("snapshot %s of %s", snapshot.seq, snapshot.run.run_id)
        _refuse(
            snapshot, f"reading it failed ({type(error).__name__}); this is a fault of the site, its log tells more"
        )


def _read(snapshot: Snapshot) -> None:
    try:
        with default_storage.open(snapshot.received, "rb") as file:
            profile = read_profile(cast(BinaryIO, file), limits=settings.LIMITS, resolve=protocol.value_type_named)
        told.apply(snapshot.capture, profile)
        call_tree = tree.build(profile, limits=settings.LIMITS)
    except LimitExceeded as error:
        _refuse(snapshot, str(error), is_over_limit=True)
    except ProfileError as error:
        _refuse(snapshot, str(error))
    else:
        _store(snapshot, profile, call_tree)


def _refuse(snapshot: Snapshot, error: str, *, is_over_limit: bool = False) -> None:
    """Keep why it can't be read, on the snapshot; the bytes stay as they came."""
    now = timezone.now()
    with transaction.atomic():
        Snapshot.objects.filter(pk=snapshot.pk).update(
            error=error.rstrip(".")[:ERROR_CHARACTERS], is_over_limit=is_over_limit, ingested_at=now
        )
        Run.objects.filter(pk=snapshot.run_id).update(changed_at=now)


def _store(snapshot: Snapshot, profile: Profile, call_tree: tree.CallTree) -> None:
    """Files first, then all rows at once: nobody sees a revision without its payloads."""
    name = _keep(f"trees/{snapshot.run.run_id}/{snapshot.seq:04d}-{REVISION}.tree", tree.pack(call_tree))
    tables = functions.tables(call_tree)
    payloads = [_payload(snapshot, call_tree, column, table) for column, table in enumerate(tables)]
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=snapshot.run_id)
        Payload.objects.filter(snapshot=snapshot, revision=REVISION).delete()
        Payload.objects.bulk_create(payloads)
        fields = facts.of_snapshot(profile, call_tree) | {"tree": name, "revision": REVISION, "error": ""}
        Snapshot.objects.filter(pk=snapshot.pk).update(ingested_at=timezone.now(), **fields)
        Run.objects.filter(pk=run.pk).update(**facts.of_run(run))


def _payload(snapshot: Snapshot, call_tree: tree.CallTree, column: int, table: dict[str, Any]) -> Payload:
    """Both stages, compressed here once. A tree that is small, or has negative values, has the first only."""
    first = payload.encode(call_tree, column, overview=True)
    whole = first if first.is_full else payload.encode(call_tree, column, overview=False)
    content_hash = xxhash.xxh3_64_hexdigest(whole.data)
    file = f"payloads/{snapshot.run.run_id}/{snapshot.seq:04d}-{REVISION}-{column}-{content_hash}.gz"
    return Payload(
        snapshot=snapshot,
        revision=REVISION,
        value_type=call_tree.value_types[column].name,
        overview=_gzip(first.data),
        overview_is_full=first.is_full,
        file="" if first.is_full else _keep(file, _gzip(whole.data)),
        content_hash=content_hash,
        functions=table,
    )


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, GZIP_LEVEL, mtime=0)


def _keep(name: str, data: bytes) -> str:
    """The same name again is the same snapshot read again, after a worker died: its file is replaced."""
    if default_storage.exists(name):
        default_storage.delete(name)
    return default_storage.save(name, ContentFile(data))
