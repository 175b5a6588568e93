"""Old pushes to their overviews: the tree shrinks to what an overview shows, and what arrived is dropped."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from functools import reduce

import numpy as np
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import F

from tracer.profile import tree
from tracer.profile.errors import ProfileError
from tracer.profile.tree import payload
from webapp.pushes.models import Push, PushQuerySet, RollingRun
from webapp.runs import notify
from webapp.runs.models import Payload, Run, Snapshot
from webapp.runs.revisions import compressed

log = logging.getLogger(__name__)

SMALL_TREE = 4096  # nodes; fewer are not worth the trouble
MOST_AT_ONCE = 50  # of one round of the sweep, which has leases to look after


def thin_out(now: datetime) -> int:
    """Pushes older than PUSH_WHOLE_S, but the first of each run, and the oldest of projects over PUSH_NODES."""
    old = Push.objects.whole().filter(received_at__lt=now - timedelta(seconds=settings.PUSH_WHOLE_S))
    count = _thin(old.exclude(snapshot__seq=1), now)
    for project in _over_budget():
        count += _thin(Push.objects.whole().filter(project=project), now)
    return count


def _over_budget() -> list[int]:
    """Projects whose whole trees have more nodes than the budget."""
    projects = Push.objects.filter(thinned_at=None).values_list("project", flat=True).distinct()
    of = {project: Push.objects.filter(project=project, thinned_at=None).nodes() for project in projects}
    return [project for project, nodes in of.items() if nodes > settings.PUSH_NODES]


def _thin(pushes: PushQuerySet, now: datetime) -> int:
    found = list(pushes.select_related("snapshot__run").order_by("received_at")[:MOST_AT_ONCE])
    for push in found:
        try:
            thin(push, now)
        except (FileNotFoundError, ProfileError) as error:
            log.error("snapshot %s of %s stays as it is: %s", push.snapshot.seq, push.snapshot.run.run_id, error)
            Push.objects.filter(pk=push.pk).update(thinned_at=now)
    return len(found)


def thin(push: Push, now: datetime) -> None:
    """Totals stay what they were. Files go after the rows that name them."""
    snapshot = push.snapshot
    dropped = [name for name in snapshot.file_names() if name != snapshot.tree]
    whole = _whole_tree(snapshot)
    fields = {"received": ""} | (_smaller(snapshot, whole) if whole else {})
    if "tree" in fields:
        dropped.append(snapshot.tree)
    overviews = _overviews(snapshot, whole) if whole else {}
    capture = snapshot.capture | {"thinned": _words(snapshot, fields, now)}
    with transaction.atomic():
        Snapshot.objects.filter(pk=snapshot.pk).update(capture=capture, **fields)
        for pk, overview in overviews.items():
            Payload.objects.filter(pk=pk).update(overview=overview)
        Payload.objects.filter(snapshot=snapshot).update(file="", overview_is_full=True)
        Push.objects.filter(pk=push.pk).update(thinned_at=now)
        RollingRun.objects.filter(pk=push.rolling_id).update(thinned=F("thinned") + 1)
        Run.objects.filter(pk=snapshot.run_id).update(changed_at=now)
    for name in dropped:
        default_storage.delete(name)
    notify.run_changed(snapshot.run.run_id)


def _whole_tree(snapshot: Snapshot) -> tree.CallTree | None:
    """The tree, if it can be smaller: with values below zero, what is pruned can't be kept apart from its net."""
    if not snapshot.tree:
        return None
    with default_storage.open(snapshot.tree) as file:
        whole = tree.unpack(file.read())
    is_signed = any((column < 0).any() for column in whole.selfs)
    return None if len(whole) <= SMALL_TREE or is_signed else whole


def _smaller(snapshot: Snapshot, whole: tree.CallTree) -> dict[str, object]:
    """The tree pruned to what the overviews of its value types show."""
    shown = [tree.overview(whole.widths(column))[0] for column in range(len(whole.value_types))]
    small = tree.prune(whole, reduce(np.logical_or, shown))
    name = default_storage.save(f"{snapshot.tree}{Snapshot.THINNED_ENDING}", ContentFile(tree.pack(small)))
    return {"tree": name, "nodes": len(small)}


def _overviews(snapshot: Snapshot, whole: tree.CallTree) -> dict[int, bytes]:
    """Overviews of payloads that had all in one, by primary key."""
    columns = {value_type.name: column for column, value_type in enumerate(whole.value_types)}
    rows = Payload.objects.filter(snapshot=snapshot, revision=snapshot.revision, overview_is_full=True)
    return {
        pk: compressed(payload.encode_pruned(whole, columns[name]).data)
        for pk, name in rows.values_list("pk", "value_type")
        if name in columns
    }


def _words(snapshot: Snapshot, fields: dict[str, object], now: datetime) -> str:
    day = f"{now.day} {now:%b %Y}"
    if "nodes" not in fields:
        return f"What arrived was thinned out on {day}; the tree made of it is whole."
    return (
        f"The whole tree of this moment, {snapshot.nodes:,} nodes, was thinned out on {day}; "
        f"what is shown is its overview. Totals are unchanged."
    )
