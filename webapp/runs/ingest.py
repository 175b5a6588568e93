"""The ingest worker: a snapshot's bytes to the call tree and the payloads of each moment that they hold."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.utils import timezone

from tracer import protocol
from tracer.profile import tree
from tracer.profile.errors import LimitExceeded, ProfileError
from tracer.profile.formats.reading import Moment
from webapp.celery import app
from webapp.runs import due, facts, notify, revisions, states, unnamed
from webapp.runs.models import Payload, Run, Snapshot, UnnamedModule
from webapp.runs.received import moments_of

log = logging.getLogger(__name__)

FIRST_REVISION = 1  # of the tree made of what arrived; new symbols make others
MAX_ATTEMPTS = 3  # a file that ended the worker this often is not tried again
RENEW_CLAIM_EVERY_S = 5.0
ERROR_CHARACTERS = 500
LABEL_CHARACTERS = 200


class TakenOver(Exception):
    """The snapshot is in another worker's hand by now, or its run was deleted: this one must write nothing more."""


@app.task(name=protocol.TASK_INGEST_SNAPSHOT, ignore_result=True)
def ingest_snapshot(snapshot_pk: int) -> None:
    """Read one snapshot, once: a second message for it finds it read, or in another worker's hand."""
    snapshot = _claim(snapshot_pk)
    if snapshot is None:
        return
    if snapshot.ingest_attempts > MAX_ATTEMPTS:
        _refuse(snapshot, f"reading it ended the worker {MAX_ATTEMPTS} times, it may need too much memory")
    else:
        try:
            with _claim_renewed(snapshot):
                _read_or_refuse(snapshot)
        except TakenOver:
            log.warning("snapshot %s of %s is read elsewhere, or was deleted", snapshot.seq, snapshot.run.run_id)
            return
    states.settle(snapshot.run_id)
    notify.run_changed(snapshot.run.run_id)


def _claim(snapshot_pk: int) -> Snapshot | None:
    now = timezone.now()
    waiting = Snapshot.objects.claimable(now).filter(pk=snapshot_pk)
    if waiting.update(ingest_claimed_at=now, ingest_attempts=F("ingest_attempts") + 1) != 1:
        return None
    return Snapshot.objects.select_related("run").get(pk=snapshot_pk)


@contextmanager
def _claim_renewed(snapshot: Snapshot) -> Iterator[None]:
    """Keep the claim fresh while a large file is read, so that it falls to another worker only if this one dies."""
    done = threading.Event()

    def renew() -> None:
        while not done.wait(RENEW_CLAIM_EVERY_S):
            Snapshot.objects.held(snapshot).update(ingest_claimed_at=timezone.now())
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
    except (DatabaseError, OSError, TakenOver):
        raise
    except Exception as error:
        log.exception("snapshot %s of %s", snapshot.seq, snapshot.run.run_id)
        _refuse(
            snapshot, f"reading it failed ({type(error).__name__}); this is a fault of the site, its log tells more"
        )


def _read(snapshot: Snapshot) -> None:
    try:
        _read_moments(snapshot)
    except LimitExceeded as error:
        _refuse(snapshot, str(error), is_over_limit=True)
    except ProfileError as error:
        _refuse(snapshot, str(error))
    else:
        modules = UnnamedModule.objects.filter(snapshot__run=snapshot.run_id)
        due.nudge(due.mark_changed(snapshot.run.project_id, modules))  # symbols that came meanwhile


def _read_moments(first: Snapshot) -> None:
    """Read the file once; its moments are stored one by one, so that memory is that of one.

    The snapshot that arrived is the first of them. It stays claimed until the last is stored, so a worker that dies in
    between leaves it to the next, which starts anew.
    """
    _forget(first)
    is_whole_upload = first.run.upload_files == 1
    count, shown = 0, 0
    precedence: tuple[int, ...] = ()
    for moment in moments_of(first):
        count += 1
        _store(first, first if count == 1 else _sibling(first, count), moment, place=count if is_whole_upload else 0)
        if moment.precedence >= precedence:
            shown, precedence = count, moment.precedence
    _finish(
        first, {"expected_snapshots": count, "shown_seq": 0 if shown == count else shown} if is_whole_upload else {}
    )


def _forget(first: Snapshot) -> None:
    """What a try left that was ended in between, or a file that turns out to be unreadable: rows, then their files."""
    siblings = Snapshot.objects.filter(run=first.run, moment__gt=1)
    files = [*siblings.made_files(), *Snapshot.objects.filter(pk=first.pk).made_files()]
    with transaction.atomic():
        _hold(first)
        siblings.delete()
        Payload.objects.filter(snapshot=first).delete()
        first.unnamed_modules.all().delete()
        Snapshot.objects.filter(pk=first.pk).update(tree="", revision=0, value_types=[], moment=0)
    for name in files:
        default_storage.delete(name)


def _hold(first: Snapshot) -> None:
    """Inside of a transaction: nobody else can take it until that ends."""
    if Snapshot.objects.held(first).update(ingest_claimed_at=timezone.now()) != 1:
        raise TakenOver


def _sibling(first: Snapshot, place: int) -> Snapshot:
    """Of the same file, which the first answers for; never waiting, since nobody but its worker may read it."""
    return Snapshot(
        run=first.run, seq=place, received=first.received, received_encoding=first.received_encoding,
        received_sha256=first.received_sha256, received_at=first.received_at, ingested_at=timezone.now(),
    )  # fmt: skip


def _refuse(snapshot: Snapshot, error: str, *, is_over_limit: bool = False) -> None:
    """Keep why it can't be read, on the snapshot; the bytes stay as they came, and nothing that was made of them."""
    _forget(snapshot)
    now = timezone.now()
    with transaction.atomic():
        Snapshot.objects.filter(pk=snapshot.pk).update(
            error=error.rstrip(".")[:ERROR_CHARACTERS], is_over_limit=is_over_limit, ingested_at=now
        )
        Run.objects.filter(pk=snapshot.run_id).update(changed_at=now)


def _store(first: Snapshot, snapshot: Snapshot, moment: Moment, *, place: int) -> None:
    """Files first, then all rows at once: nobody sees a revision without its payloads."""
    named = unnamed.named(snapshot.run.project_id, moment.profile)
    call_tree = tree.build(named.profile, limits=settings.LIMITS)
    made = revisions.made(snapshot, call_tree, FIRST_REVISION)
    fields = facts.of_snapshot(named.profile, call_tree) | made.fields | {"error": ""}
    if moment.label or moment.elapsed_s is not None:
        fields |= {"label": moment.label[:LABEL_CHARACTERS], "elapsed_s": moment.elapsed_s or 0.0}
    with transaction.atomic():
        _hold(first)
        for field, value in (fields | {"moment": place}).items():
            setattr(snapshot, field, value)
        snapshot.save(update_fields=None if snapshot._state.adding else [*fields, "moment"])
        revisions.keep(snapshot, made, named.modules)


def _finish(first: Snapshot, fields: dict[str, int]) -> None:
    """All is stored: the snapshot waits no more, and the run tells of it."""
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=first.run_id)
        _hold(first)
        Snapshot.objects.filter(pk=first.pk).update(ingested_at=timezone.now())
        run.shown_seq = fields.get("shown_seq", run.shown_seq)
        Run.objects.filter(pk=run.pk).update(**facts.of_run(run), **fields)
