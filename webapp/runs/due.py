"""Symbols that came or went to the snapshots that are to be named again; the database decides who does it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from webapp.runs import dispatch
from webapp.runs.models import Snapshot, UnnamedModule
from webapp.runs.unnamed import module_of
from webapp.symbols import intake
from webapp.symbols.matching import matches
from webapp.symbols.models import SymbolFile

NUDGED_AT_ONCE = 200  # the sweep sends the others


def fitting(file: SymbolFile) -> QuerySet[UnnamedModule]:
    """Rows of its project that the file names, or would name if no newer one did."""
    is_fitting = Q(build_id="", module=file.module)
    if file.build_id:
        is_fitting |= Q(build_id=file.build_id)
    return UnnamedModule.objects.filter(is_fitting, snapshot__run__project=file.project_id)


def mark_changed(project_id: int | None, rows: QuerySet[UnnamedModule]) -> list[int]:
    """Make those due that are named by other files than they should be; answers their snapshots."""
    looked_at = list(rows.only("snapshot_id", "module", "build_id", "used"))
    best = matches(project_id, {module_of(row) for row in looked_at})
    key_by_module = {module: match.key for module, match in best.items()}
    changed = [row for row in looked_at if row.used != key_by_module.get(module_of(row), "")]
    for row in changed:
        row.due_at, row.attempts = timezone.now(), 0
    UnnamedModule.objects.bulk_update(changed, ["due_at", "attempts"], batch_size=500)
    return sorted({row.snapshot_id for row in changed})


def nudge(snapshot_pks: Sequence[int]) -> None:
    for pk in snapshot_pks[:NUDGED_AT_ONCE]:
        if not dispatch.tell_naming(pk):
            return


def delete(file: SymbolFile) -> None:
    """With the names that it gave."""
    rows = fitting(file)
    intake.delete(file)
    nudge(mark_changed(file.project_id, rows))


def waiting(before: datetime) -> list[int]:
    """Snapshots that have been due for longer, the longest first."""
    rows = UnnamedModule.objects.filter(due_at__lt=before).order_by("due_at")
    return list(dict.fromkeys(rows.values_list("snapshot_id", flat=True)))


def claim(snapshot_pk: int) -> Snapshot | None:
    """The snapshot, for the one worker that it is; after NAMING_LEASE another may take it."""
    now = timezone.now()
    rows = UnnamedModule.objects.filter(snapshot=snapshot_pk, due_at__lte=now)
    rows.filter(attempts__gte=UnnamedModule.MAX_ATTEMPTS).update(due_at=None)  # naming it ends the worker
    if not rows.update(due_at=now + UnnamedModule.NAMING_LEASE, attempts=F("attempts") + 1):
        return None
    return Snapshot.objects.select_related("run").get(pk=snapshot_pk)


def settle(snapshot: Snapshot) -> None:
    """Nothing is left to do for it."""
    UnnamedModule.objects.filter(snapshot=snapshot, due_at__gt=timezone.now()).update(due_at=None, attempts=0)
