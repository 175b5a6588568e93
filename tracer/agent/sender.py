"""Sends what is in the spool: each run's snapshots in order, then how it ended."""

from __future__ import annotations

import logging
import random
import threading

from tracer.agent.spool import Finish, RunFolder, Spool, SpooledSnapshot, SpoolError
from tracer.client import ClientError, SiteClient

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 5.0  # for folders that an earlier agent's child is still writing into
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 300.0
ABANDONED = Finish("failed", "The agent ended before the recording did. The snapshots that it had taken are kept.", 0)
TOKEN_REFUSED = (401, 403)  # the host may get a new token: its snapshots are worth waiting for


class Sender:
    """`run` is for one thread: one request at a time, so that a slow line is not filled by several runs at once."""

    def __init__(self, client: SiteClient, spool: Spool) -> None:
        self._client, self._spool = client, spool
        self._wake, self._stopping, self._ended = threading.Event(), threading.Event(), threading.Event()
        self._recording: set[str] = set()
        self._failures = 0

    def open(self, run: str, attempt: str) -> RunFolder:
        """A folder to record into; until it is released, that it has no finish.json means unfinished, not abandoned."""
        self._recording.add(f"{run}.{attempt}")
        try:
            return self._spool.open(run, attempt)
        except (SpoolError, OSError):
            self._recording.discard(f"{run}.{attempt}")
            raise

    def release(self, folder: RunFolder) -> None:
        """The recording wrote its last; how it ended may be sent."""
        self._recording.discard(folder.path.name)
        self.wake()

    def wake(self) -> None:
        self._wake.set()

    def drain(self, timeout_s: float) -> None:
        """Send what can be sent in that time; the rest stays for the next start."""
        self._stopping.set()
        self._wake.set()
        self._ended.wait(timeout_s)

    def run(self) -> None:
        while True:
            is_last_round = self._stopping.is_set()
            self._wake.clear()
            pause_s = self._send_all()
            if is_last_round:
                self._ended.set()
                return
            if self._failures:
                self._stopping.wait(pause_s)  # new snapshots don't make an absent site come back sooner
            else:
                self._wake.wait(pause_s)

    def _send_all(self) -> float:
        """Returns the seconds to wait before the next round."""
        self._spool.trim()
        for folder in self._spool.folders():
            try:
                self._send(folder)
            except (ClientError, OSError) as error:
                return self._pause_after(error)
        self._failures = 0
        return LOOK_EVERY_S

    def _pause_after(self, error: Exception) -> float:
        pause_s = min(FIRST_PAUSE_S * 2.0**self._failures, LONGEST_PAUSE_S) * random.uniform(0.5, 1.0)
        self._failures += 1
        logger.warning("snapshots wait in %s: %s; again in %.0f s", self._spool.root, error, pause_s)
        return pause_s

    def _send(self, folder: RunFolder) -> None:
        for snapshot in folder.snapshots():
            self._attempt(folder, snapshot)
        finish = self._finish_of(folder)
        if finish is None or folder.snapshots():
            return
        sent = folder.sent()
        reason = _with_dropped(finish, finish.snapshots - sent)
        try:
            self._client.finish(folder.run, folder.attempt, outcome=finish.outcome, reason=reason, snapshots=sent)
        except ClientError as error:
            if not error.is_final or error.status in TOKEN_REFUSED:
                raise
            logger.warning("%s: the site takes no end of this run: %s", folder.run, error)
        folder.remove()

    def _attempt(self, folder: RunFolder, snapshot: SpooledSnapshot) -> None:
        try:
            self._client.put_snapshot(
                folder.run,
                snapshot.seq,
                folder.attempt,
                elapsed_s=snapshot.elapsed_s,
                path=snapshot.path,
            )
        except FileNotFoundError:
            return  # trimmed meanwhile
        except ClientError as error:
            if not error.is_final or error.status in TOKEN_REFUSED:
                raise
            logger.error("%s: snapshot %d was refused: %s", folder.run, snapshot.seq, error)
            self._spool.reject(folder, snapshot)
        else:
            folder.mark_sent(snapshot)

    def _finish_of(self, folder: RunFolder) -> Finish | None:
        """None while something may still be written there."""
        if folder.path.name in self._recording or folder.is_being_written:
            return None
        return folder.finish() or ABANDONED


def _with_dropped(finish: Finish, dropped: int) -> str:
    if dropped <= 0:
        return finish.reason
    lost = f"{dropped} of {finish.snapshots} snapshots were lost: the spool was full, or the site refused them."
    return f"{finish.reason} {lost}".strip()
