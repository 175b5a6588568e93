"""What time alone decides: overdue runs, previews past their day, nudges to repeat, bodies that were cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from webapp import bodies
from webapp.runs import dispatch, due, estimates, states, uploads
from webapp.runs.models import Run, Snapshot, State

NUDGE_AGAIN_AFTER = timedelta(seconds=10)
NUDGE_FOR = timedelta(hours=1)
MOST_AT_ONCE = 200

_chores: dict[str, Callable[[datetime], int]] = {}


@dataclass(frozen=True, slots=True)
class Swept:
    """What one round did."""

    failed: list[str]
    settled: list[str]
    previews_deleted: list[str]
    estimates_failed: int
    temporaries_deleted: int

    def __bool__(self) -> bool:
        return bool(
            self.failed or self.settled or self.previews_deleted or self.estimates_failed or self.temporaries_deleted
        )


def sweep(now: datetime) -> Swept:
    """One round; every part may run twice, or beside another sweep, without harm."""
    estimates.delete_old(now)
    return Swept(
        failed=states.fail_overdue(now),
        settled=states.settle_incomplete(now),
        previews_deleted=_delete_expired_previews(now),
        estimates_failed=estimates.fail_overdue(now),
        temporaries_deleted=bodies.delete_old_temporaries(now),
    )


def add_chore(name: str, chore: Callable[[datetime], int]) -> None:
    """What rooms above have done every NUDGE_EVERY_S of the command; it answers how much it did."""
    _chores[name] = chore


def do_chores(now: datetime) -> dict[str, int]:
    """By name, those that did something."""
    done = {name: chore(now) for name, chore in _chores.items()}
    return {name: count for name, count in done.items() if count}


def nudge_again(now: datetime) -> int:
    """Send again what waits: its message, or the worker that took it, may be lost. Answers how many were sent."""
    return _nudge_hosts(now) + _nudge_ingest(now) + _nudge_naming(now)


def _delete_expired_previews(now: datetime) -> list[str]:
    runs = list(Run.objects.expired_previews(now)[:MOST_AT_ONCE])
    for run in runs:
        uploads.delete_run(run)
    return [run.run_id for run in runs]


def _nudge_hosts(now: datetime) -> int:
    """Queued runs whose nudge may be lost; one that waits for long waits for its agent, which asks when it starts."""
    waiting = Run.objects.filter(
        state=State.QUEUED, created_at__lt=now - NUDGE_AGAIN_AFTER, created_at__gt=now - NUDGE_FOR
    )
    runs = list(waiting.select_related("host").order_by("created_at")[:MOST_AT_ONCE])
    return _count_until_refused(dispatch.tell_host(run) for run in runs)


def _nudge_ingest(now: datetime) -> int:
    """Snapshots whose message, or whose worker, was lost."""
    waiting = Snapshot.objects.claimable(now).filter(received_at__lt=now - NUDGE_AGAIN_AFTER)
    keys = list(waiting.order_by("received_at").values_list("pk", flat=True)[:MOST_AT_ONCE])
    return _count_until_refused(dispatch.tell_ingest(key) for key in keys)


def _nudge_naming(now: datetime) -> int:
    """Snapshots that files of symbols name better, whose message or whose worker was lost."""
    keys = due.waiting(now - NUDGE_AGAIN_AFTER)[:MOST_AT_ONCE]
    return _count_until_refused(dispatch.tell_naming(key) for key in keys)


def _count_until_refused(sends: Iterable[bool]) -> int:
    """A broker that is away may take seconds for each refusal, and the sweep has leases to look after."""
    return len(list(takewhile(bool, sends)))
