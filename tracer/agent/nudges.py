"""Keeps the Celery worker of this host's queue running, and calls back for each message that it hears."""

from __future__ import annotations

import logging
import subprocess
import threading
from collections.abc import Callable

from tracer.agent.children import output_of, start_child

logger = logging.getLogger(__name__)

RESTART_AFTER_S = 2.0
LONGEST_PAUSE_S = 60.0
STOP_AFTER_S = 1.0
MISSED_BEFORE_RESTART = 3


class Nudges(threading.Thread):
    """Started once the site has told the queue's name; without a broker it does nothing."""

    def __init__(self, broker: str, on_nudge: Callable[[], None]) -> None:
        super().__init__(name="nudges", daemon=True)
        self._broker, self._on_nudge = broker, on_nudge
        self._queue, self._missed = "", 0
        self._listener: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()

    def listen_to(self, queue: str) -> None:
        """Begin; later calls change nothing."""
        if self.is_listening:
            return
        self._queue = queue
        self._on_nudge()
        if self._broker:
            self.start()

    @property
    def is_listening(self) -> bool:
        return bool(self._queue)

    def note_missed(self) -> None:
        """A run was found by asking. Celery workers are known to live on without hearing after a broker came back."""
        self._missed += 1
        if self._missed >= MISSED_BEFORE_RESTART and self._listener is not None:
            logger.warning("%d runs came without a nudge, so the broker's listener is started again", self._missed)
            self._missed = 0
            self._listener.terminate()

    def stop(self) -> None:
        """The listener holds nothing of value, so it isn't waited for long."""
        self._stopping.set()
        listener = self._listener
        if listener is None:
            return
        listener.terminate()
        try:
            listener.wait(STOP_AFTER_S)
        except subprocess.TimeoutExpired:
            listener.kill()
            listener.wait()

    def run(self) -> None:
        pause_s = RESTART_AFTER_S
        while not self._stopping.is_set():
            try:
                heard = self._listen()
            except OSError as error:
                heard = 0
                logger.error("the broker's listener can't be started: %s", error)
            pause_s = RESTART_AFTER_S if heard else min(2 * pause_s, LONGEST_PAUSE_S)
            if not self._stopping.wait(pause_s):
                logger.warning("the broker's listener ended, starting it again; runs are asked for meanwhile")

    def _listen(self) -> int:
        """Run one listener to its end; returns the nudges heard."""
        self._listener = start_child("tracer.agent.listen", {"broker": self._broker, "queue": self._queue})
        heard = 0
        with output_of(self._listener) as lines:
            for line in lines:
                logger.info("nudged for %s", line.decode(errors="replace").strip())
                heard, self._missed = heard + 1, 0
                self._on_nudge()
        self._listener.wait()
        return heard
