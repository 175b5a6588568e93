"""The agent: tells the site what runs on this host, takes the host's runs, records them, sends what was recorded.

One process of threads, each with one job, so that a slow answer to one holds up no other:

    main        waits for SIGINT or SIGTERM, then ends the rest in order
    heartbeat   every HEARTBEAT_EVERY_S: what this host can do, which processes run
    work        asks for the oldest queued run: when nudged, when a recording has ended, and every POLL_EVERY_S
    nudges      keeps the Celery worker running (a process, `listen`) and wakes `work` for each of its lines
    <run>       one for each recording: starts the process that traces (`child`), reports progress, passes on stop
    <estimate>  one at most: starts the process that counts (`counting`), sends what it found
    sender      sends the spool

Only the agent itself holds the token. Celery does nothing here but wake it: without a broker a run starts at the next
question, a few seconds later.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tracer import __version__
from tracer.agent.estimation import Estimation
from tracer.agent.facts import ask_facts
from tracer.agent.nudges import Nudges
from tracer.agent.processes import LiveList
from tracer.agent.recording import Recording
from tracer.agent.sender import Sender
from tracer.agent.spool import Spool, SpoolError
from tracer.client import ClientError, SiteClient
from tracer.protocol import HEARTBEAT_EVERY_S, POLL_EVERY_S
from tracer.pull.allowed import Allowed

logger = logging.getLogger(__name__)

FACTS_EVERY_S = 600.0  # a kernel setting may be changed while the agent runs
STOP_RECORDINGS_S = 4.0  # both together stay below the 6.5 s that `manage.py up` gives its agent
SEND_LAST_S = 1.5


@dataclass(frozen=True, slots=True)
class AgentOptions:
    server: str
    token: str
    spool: Path
    broker: str = ""
    concurrency: int = 2
    allowed: Allowed = field(default_factory=Allowed)


def serve(options: AgentOptions) -> None:
    """Run until SIGINT or SIGTERM; ClientError when the site refuses the token, SpoolError when the spool is taken."""
    client, spool = SiteClient(options.server, options.token), Spool(options.spool)
    if client.is_in_clear:
        logger.warning("%s is reached without TLS: whoever sees the traffic has this host's token", client.server)
    with spool.in_use():
        Agent(client, spool, options).run()


class Agent:
    """The threads and what they share."""

    def __init__(self, client: SiteClient, spool: Spool, options: AgentOptions) -> None:
        self._client, self._spool, self._options = client, spool, options
        self._sender = Sender(client, spool)
        self._nudges = Nudges(options.broker, self._look_for_work)
        self._recordings: list[Recording] = []
        self._recordings_lock = threading.Lock()
        self._stopping, self._work = threading.Event(), threading.Event()
        self._estimation: Estimation | None = None
        self._is_asking = False  # by the clock: nothing had waked us
        self._failure: Exception | None = None

    def run(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        for name, job in (("heartbeat", self._beat), ("work", self._take_work), ("sender", self._sender.run)):
            threading.Thread(target=self._guarded, args=(job,), name=name, daemon=True).start()
        self._stopping.wait()
        self._end()
        if self._failure is not None:
            raise self._failure

    def _guarded(self, job: Callable[[], None]) -> None:
        """An agent that lacks one of its threads would look alive and do half its work: end, to be started again."""
        try:
            job()
        except Exception as error:
            self._failure = error
            self._stopping.set()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._stopping.set()

    def _end(self) -> None:
        """Children first, so that no probe is left; then what they have written last."""
        logger.info("stopping")
        recordings = self._current()
        for recording in recordings:
            recording.shut_down()
        if self._estimation is not None:
            self._estimation.shut_down()
        self._nudges.stop()
        deadline = time.monotonic() + STOP_RECORDINGS_S
        for recording in recordings:
            recording.join(max(0, deadline - time.monotonic()))
            recording.kill()
        self._sender.drain(SEND_LAST_S)

    def _beat(self) -> None:
        live, facts, facts_at = LiveList(), ask_facts(self._options.allowed), time.monotonic()
        is_heard = _Said(logger)
        while not self._stopping.is_set():
            if time.monotonic() - facts_at > FACTS_EVERY_S:
                facts, facts_at = ask_facts(self._options.allowed), time.monotonic()
            try:
                reply = self._client.heartbeat(__version__, facts, live.current())
            except ClientError as error:
                is_heard.no(f"{error}; trying again")
                self._give_up_if_never_heard(error)
            else:
                is_heard.yes(f"serving {self._client.server}, queue {reply['queue']}")
                self._nudges.listen_to(str(reply["queue"]))
            self._stopping.wait(HEARTBEAT_EVERY_S)

    def _give_up_if_never_heard(self, error: ClientError) -> None:
        """A refused token at the start is a mistake for a person to mend; later it may be a token being renewed."""
        if error.is_final and not self._nudges.is_listening:
            self._failure = error
            self._stopping.set()

    def _look_for_work(self) -> None:
        self._work.set()

    def _take_work(self) -> None:
        while not self._stopping.is_set():
            self._work.clear()
            if self._nudges.is_listening:
                self._take_what_waits()
            self._is_asking = not self._work.wait(POLL_EVERY_S)

    def _take_what_waits(self) -> None:
        """The estimate, and the oldest run if there is room for one. What another agent was faster to take, or the site
        does not answer for, waits for a later question."""
        try:
            waiting = self._client.next_work()
            if waiting.estimate and not self._is_estimating():
                self._estimate(waiting.estimate)
            if waiting.run and len(self._current()) < self._options.concurrency:
                self._claim(waiting.run, uuid.uuid4().hex)
        except ClientError as error:
            if error.status != 409:
                logger.warning("nothing taken: %s", error)
        except (SpoolError, OSError) as error:
            logger.error("no run taken, since nothing could be kept: %s", error)

    def _is_estimating(self) -> bool:
        return self._estimation is not None and self._estimation.is_alive()

    def _estimate(self, estimate: str) -> None:
        self._estimation = Estimation(self._client, estimate, uuid.uuid4().hex)
        self._estimation.start()

    def _claim(self, run: str, attempt: str) -> None:
        folder = self._sender.open(run, attempt)  # first: a run that can't be kept is left to others
        try:
            claim = self._client.claim(run, attempt)
        except ClientError:
            folder.remove()
            self._sender.release(folder)
            raise
        logger.info("%s: taken", run)
        if self._is_asking:
            self._nudges.note_missed()
        recording = Recording(
            self._client, self._sender, folder, claim, self._look_for_work, allowed=self._options.allowed
        )
        with self._recordings_lock:
            self._recordings.append(recording)
        recording.start()
        self._look_for_work()  # there may be another one

    def _current(self) -> list[Recording]:
        with self._recordings_lock:
            self._recordings = [known for known in self._recordings if not known.has_ended]
            return list(self._recordings)


class _Said:
    """Logs a change once, not at every beat."""

    def __init__(self, log: logging.Logger) -> None:
        self._log, self._last = log, ""

    def yes(self, text: str) -> None:
        self._say(self._log.info, text)

    def no(self, text: str) -> None:
        self._say(self._log.warning, text)

    def _say(self, say: Callable[[str], None], text: str) -> None:
        if text != self._last:
            self._last = text
            say(text)
