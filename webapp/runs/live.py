"""The live socket of a run page: every message is built from the database, so one that is lost only delays."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth.models import AnonymousUser
from django.db import DatabaseError
from django.utils import timezone

from webapp.runs.models import Run
from webapp.runs.notify import group_of
from webapp.runs.runview import COLUMNS, brief_views, progress_view, value_types_view
from webapp.teams.models import User

log = logging.getLogger(__name__)

LOOK_EVERY_S = 0.5  # while the run is active; notices of the channel layer come on top
IDLE_LOOK_EVERY_S = 5.0  # a late snapshot may still come
PERMISSION_EVERY_S = 60.0
NOT_VISIBLE = 4404
TOO_MANY = 4429
TOO_LARGE = 1009  # of the protocol itself
SOCKETS_A_USER = 20  # in this process: each asks the database twice a second
FRAME_BYTES = 64 << 10  # from the browser, which has nothing to say

_open: Counter[int] = Counter()  # sockets by user


@dataclass(slots=True)
class Seen:
    """What one socket has sent already."""

    changed_at: datetime | None = None
    snapshots: dict[int, tuple[int, str]] = field(default_factory=dict)  # seq: (revision, error)


class RunConsumer(AsyncWebsocketConsumer):
    """One open run page. It reads nothing from the browser."""

    counted_for: int | None = None  # the user, while it is open
    loop_task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:  # however it ended
            if self.loop_task is not None:
                self.loop_task.cancel()
            if self.counted_for is not None:
                _leave(self.counted_for)

    async def connect(self) -> None:
        self.user: User | AnonymousUser = self.scope["user"]
        self.run_id: str = self.scope["url_route"]["kwargs"]["run_id"]
        self.seen, self.nudged, self.is_active = Seen(), asyncio.Event(), True
        if not await self._may_see():
            await self.close(code=NOT_VISIBLE)
            return
        if not _enter(self.user.pk or 0):
            await self.close(code=TOO_MANY)
            return
        self.counted_for = self.user.pk or 0
        await self.accept()
        if self.channel_layer is not None:
            await self.channel_layer.group_add(group_of(self.run_id), self.channel_name)
        self.loop_task = asyncio.create_task(self._send_changes())

    async def disconnect(self, code: int) -> None:
        if self.loop_task is not None:
            self.loop_task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.loop_task
        if self.channel_layer is not None:
            await self.channel_layer.group_discard(group_of(self.run_id), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Nothing is expected, and nothing large is taken."""
        if len((text_data or "").encode()) > FRAME_BYTES or len(bytes_data or b"") > FRAME_BYTES:
            await self.close(code=TOO_LARGE)

    async def run_changed(self, event: dict[str, Any]) -> None:
        self.nudged.set()

    async def _send_changes(self) -> None:
        check_at = time.monotonic() + PERMISSION_EVERY_S
        while True:
            self.nudged.clear()
            is_due = time.monotonic() > check_at
            try:
                message = None if is_due and not await self._may_see() else await self._look()
            except DatabaseError as error:
                log.warning("the open page of %s is told later: %s", self.run_id, error)
                message = {}
            if message is None:
                await self.close(code=NOT_VISIBLE)
                return
            if is_due:
                check_at = time.monotonic() + PERMISSION_EVERY_S
            if message:
                await self.send(text_data=orjson.dumps(message).decode())
            await self._wait()

    async def _wait(self) -> None:
        pause = LOOK_EVERY_S if self.is_active else IDLE_LOOK_EVERY_S
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.nudged.wait(), pause)

    @database_sync_to_async
    def _may_see(self) -> bool:
        """Asked anew: the user may have left the team, or been deactivated."""
        user = User.objects.filter(pk=self.user.pk or 0, is_active=True).first() or AnonymousUser()
        return Run.objects.visible_to(user).filter(run_id=self.run_id).exists()

    @database_sync_to_async
    def _look(self) -> dict[str, Any] | None:
        """What is new since the last message; empty if nothing, None if the run is gone."""
        run = Run.objects.select_related("host").filter(run_id=self.run_id).first()
        if run is None:
            return None
        self.is_active = run.is_active
        if run.changed_at == self.seen.changed_at:
            return {}
        self.seen.changed_at = run.changed_at
        return live_message(run, self.seen)


def _enter(user: int) -> bool:
    """Count a socket, unless the user has as many as one may have; the page then asks by itself every few seconds."""
    if _open[user] >= SOCKETS_A_USER:
        return False
    _open[user] += 1
    return True


def _leave(user: int) -> None:
    _open[user] -= 1
    if not _open[user]:
        del _open[user]


def live_message(run: Run, seen: Seen) -> dict[str, Any]:
    """The run's progress with the snapshots that `seen` lacks, which are noted there."""
    rows = run.snapshots.values_list("seq", "revision", "error")
    now_there = {seq: (revision, error) for seq, revision, error in rows}
    fresh = [seq for seq, version in now_there.items() if seen.snapshots.get(seq) != version]
    seen.snapshots = now_there
    snapshots = list(run.snapshots.filter(seq__in=fresh).only(*COLUMNS)) if fresh else []
    last = next((snapshot for snapshot in reversed(snapshots) if snapshot.value_types), None)
    message = {"type": "run", **progress_view(run), "agent_seen_s": agent_seen_s(run)}
    message["snapshots"] = brief_views(snapshots, run.shown_seq)
    message["value_types"] = value_types_view(last)
    return message


def agent_seen_s(run: Run) -> float | None:
    """Seconds since the host's agent was last heard; None for uploads."""
    if run.host is None or run.host.last_seen_at is None:
        return None
    return round((timezone.now() - run.host.last_seen_at).total_seconds(), 1)
