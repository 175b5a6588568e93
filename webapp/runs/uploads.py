"""Bodies of profiles to runs and snapshots: the file is synced before the row that names it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.utils import timezone

from webapp.bodies import Body, move_into_storage
from webapp.bodies import content_encoding as content_encoding
from webapp.bodies import received as received
from webapp.errors import ApiError
from webapp.runs import dispatch, notify, states
from webapp.runs.models import Run, Snapshot, State
from webapp.teams.models import Project, User

WAIT_FOR_INGEST_S = 60.0
LOOK_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored snapshot; `is_new` is False when the same bytes had come before."""

    snapshot: Snapshot
    is_new: bool


def keep_snapshot(
    run: Run, seq: int, body: Body, *, elapsed_s: float = 0.0, encoding: str = "", label: str = ""
) -> Kept:
    """Make the body snapshot `seq` of the run; 409 if other bytes are there already."""
    old = Snapshot.objects.filter(run=run, seq=seq).first()
    if old is not None:
        return _same_or_409(old, body)
    name = move_into_storage(body, f"received/{run.run_id}/{seq:04d}-{body.sha256[:16]}")
    try:
        snapshot = _insert(run, seq, body, name=name, elapsed_s=elapsed_s, encoding=encoding, label=label)
    except IntegrityError:  # the same seq came at the same moment
        winner = Snapshot.objects.get(run=run, seq=seq)
        if winner.received != name:
            default_storage.delete(name)
        return _same_or_409(winner, body)
    return Kept(snapshot, is_new=True)


def _same_or_409(old: Snapshot, body: Body) -> Kept:
    if old.received_sha256 != body.sha256:
        raise ApiError(409, f"Snapshot {old.seq} of {old.run.run_id} is there already, with other bytes; it was kept.")
    return Kept(old, is_new=False)


def _insert(run: Run, seq: int, body: Body, *, name: str, elapsed_s: float, encoding: str, label: str) -> Snapshot:
    with transaction.atomic():
        snapshot = Snapshot.objects.create(
            run=run, seq=seq, elapsed_s=elapsed_s, received=name, received_encoding=encoding,
            received_sha256=body.sha256, received_bytes=body.size, label=label,
        )  # fmt: skip
        Run.objects.filter(pk=run.pk).update(changed_at=timezone.now())
    dispatch.nudge_ingest(snapshot.pk)
    notify.run_changed(run.run_id)
    return snapshot


@dataclass(frozen=True, slots=True)
class Upload:
    """What a person or CI says of a file; without a project it is that person's private preview."""

    project: Project | None
    created_by: User | None
    title: str = ""
    service: str = ""
    deploy: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    taken_at: datetime | None = None
    key: str | None = None  # the same for each try of one upload
    files: int = 1  # that make up the run: each of several is one snapshot, one alone may hold many
    file: str = ""  # what the first of several is called


def keep_upload(upload: Upload, body: Body, *, encoding: str) -> Run:
    """A run out of its first file; the same key finds the run that it made, 409 if the bytes are others."""
    old = _run_of_key(upload)
    if old is not None:
        return _same_upload_or_409(old, body)
    run = _new_run(upload)
    name = move_into_storage(body, f"received/{run.run_id}/0001-{body.sha256[:16]}")
    try:
        with transaction.atomic():
            run.save()
            states.add_labels(run)
            _insert(run, 1, body, name=name, elapsed_s=0.0, encoding=encoding, label=upload.file)
    except BaseException as error:
        default_storage.delete(name)
        winner = _run_of_key(upload) if isinstance(error, IntegrityError) else None
        if winner is None:
            raise
        return _same_upload_or_409(winner, body)
    return run


def _run_of_key(upload: Upload) -> Run | None:
    if upload.key is None or upload.project is None:
        return None
    return Run.objects.filter(project=upload.project, upload_key=upload.key).first()


def _same_upload_or_409(run: Run, body: Body) -> Run:
    if run.snapshots.get(seq=1).received_sha256 != body.sha256:
        raise ApiError(409, f"This Idempotency-Key was used for {run.run_id}, with other bytes; nothing was stored.")
    return run


def _new_run(upload: Upload) -> Run:
    now = timezone.now()
    taken_at = upload.taken_at or now
    return Run(
        project=upload.project, created_by=upload.created_by, upload_key=upload.key, collector="upload",
        title=upload.title[:200], service=upload.service, deploy=upload.deploy, labels=dict(upload.labels),
        state=State.INGESTING, started_at=taken_at, ended_at=taken_at,
        upload_files=upload.files, expected_snapshots=upload.files,
        preview_until=None if upload.project else now + timedelta(seconds=settings.PREVIEW_KEPT_S),
    )  # fmt: skip


def read_or_refused(run: Run) -> Run:
    """Wait for the ingest worker; the database is asked, since the worker is another process.

    An upload that can't be read, or one of whose files can't, is deleted, and ApiError says why: 413 at a limit, else
    422. A run that still ingests after WAIT_FOR_INGEST_S is answered as it is, and keeps what becomes of it.
    """
    deadline = time.monotonic() + WAIT_FOR_INGEST_S
    run.refresh_from_db(fields=["state", "reason"])
    while run.state == State.INGESTING and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_S)
        run.refresh_from_db(fields=["state", "reason"])
    snapshot = run.snapshots.exclude(error="").first() if run.state == State.FAILED else None
    if snapshot is not None:
        delete_run(run)
        name = run.title or "The upload"
        which = f"{snapshot.label or f'file {snapshot.seq}'}: " if run.upload_files > 1 else ""
        raise ApiError(413 if snapshot.is_over_limit else 422, f"{name} was not stored: {which}{snapshot.error}.")
    return run


def missing_files(run: Run) -> list[int]:
    """Numbers of those that have not come yet."""
    there = set(run.snapshots.values_list("seq", flat=True))
    return [number for number in range(1, run.upload_files + 1) if number not in there]


def keep_file(run: Run, number: int, body: Body, *, encoding: str, file: str) -> Kept:
    """One more file of an upload of several; the same bytes again change nothing."""
    if not 1 <= number <= run.upload_files:
        raise ApiError(422, f"The file's number is {number}, {run.run_id} is made of {run.upload_files}.")
    is_late = run.state != State.INGESTING and not run.snapshots.filter(seq=number).exists()
    if is_late:
        raise ApiError(409, f"{run.run_id} waits for no more files: it is {run.state}. {run.reason}".rstrip())
    return keep_snapshot(run, number, body, encoding=encoding, label=file)


def delete_run(run: Run) -> None:
    """The row, and after it the files: a crash in between leaves files that nothing names, never a row without them."""
    received = run.snapshots.exclude(received="").values_list("received", flat=True)
    names = {*received, *run.snapshots.all().made_files()}  # a set: moments share the file that they came in
    run.delete()
    for name in names:
        default_storage.delete(name)
    _remove_empty_folders(run.run_id)


def _remove_empty_folders(run_id: str) -> None:
    for kind in ("received", "trees", "payloads"):
        folder = Path(settings.MEDIA_ROOT) / kind / run_id
        if folder.is_dir() and not any(folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)
