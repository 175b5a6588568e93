"""A snapshot whose symbols came or went to its next revision: read again as it arrived, named by what there is now."""

from __future__ import annotations

import logging

from django.conf import settings
from django.db import transaction

from tracer import protocol
from tracer.profile import tree
from tracer.profile.errors import ProfileError
from webapp.celery import app
from webapp.runs import due, facts, notify, revisions, unnamed
from webapp.runs.models import Run, Snapshot
from webapp.runs.received import profile_of

log = logging.getLogger(__name__)


@app.task(name=protocol.TASK_NAME_SNAPSHOT, ignore_result=True)
def name_snapshot(snapshot_pk: int) -> None:
    """Once: a second message finds nothing due, or another worker at it. A worker that dies leaves the old revision."""
    snapshot = due.claim(snapshot_pk)
    if snapshot is None:
        return
    if not snapshot.received:  # what arrived was thinned out
        due.settle(snapshot)
        return
    try:
        _name(snapshot)
    except ProfileError as error:  # a limit was lowered, or the names make the tree too large
        log.warning("snapshot %s of %s keeps its names: %s", snapshot.seq, snapshot.run.run_id, error)
        due.settle(snapshot)
        return
    due.nudge(due.mark_changed(snapshot.run.project_id, snapshot.unnamed_modules.all()))  # came meanwhile
    notify.run_changed(snapshot.run.run_id)


def _name(snapshot: Snapshot) -> None:
    """By compare-and-set: of a snapshot that is read anew meanwhile, or deleted, nothing is stored."""
    named = unnamed.named(snapshot.run.project_id, profile_of(snapshot))
    call_tree = tree.build(named.profile, limits=settings.LIMITS)
    made = revisions.made(snapshot, call_tree, snapshot.revision + 1)
    with transaction.atomic():
        fields = facts.of_snapshot(named.profile, call_tree) | made.fields
        if Snapshot.objects.filter(pk=snapshot.pk, revision=snapshot.revision).update(**fields) != 1:
            return
        revisions.keep(snapshot, made, named.modules)
        run = Run.objects.select_for_update().get(pk=snapshot.run_id)
        Run.objects.filter(pk=run.pk).update(**facts.of_run(run))
    revisions.forget_before(snapshot, snapshot.revision)
