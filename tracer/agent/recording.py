"""One run from claim to end: the process that traces on one side, the site on the other."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress

from tracer.agent.processes import is_own
from tracer.agent.sender import Sender
from tracer.agent.spool import Finish, RunFolder
from tracer.agent.tracing import Counts, TracingProcess
from tracer.client import Claim, ClientError, SiteClient
from tracer.protocol import PROGRESS_EVERY_S, RunSpec
from tracer.pull.allowed import Allowed

logger = logging.getLogger(__name__)

OVERTIME_S = 30.0  # resolving symbols of the last snapshot takes a while; longer than this, it hangs
LOST_LEASE = (404, 409)


class Recording(threading.Thread):
    """Its thread starts the child and outlives it, since the kernel ends a child with the thread that started it."""

    def __init__(
        self,
        client: SiteClient,
        sender: Sender,
        folder: RunFolder,
        claim: Claim,
        on_end: Callable[[], None],
        allowed: Allowed | None = None,
    ) -> None:
        super().__init__(name=folder.run, daemon=True)
        self._client, self._sender, self._folder, self._claim, self._on_end = client, sender, folder, claim, on_end
        self._allowed = allowed
        self._counts = Counts()
        self._shutdown = threading.Event()
        self._has_lease = True
        self._child: TracingProcess | None = None
        self.has_ended = False

    def shut_down(self) -> None:
        """The agent ends: keep what was recorded until now."""
        self._shutdown.set()
        self._stop_for_shutdown()  # at once, since our own thread may be waiting for the site

    def kill(self) -> None:
        """Last resort of an agent that ends: the probes go with the process, the last snapshot is lost."""
        if self._child is not None:
            self._child.kill()

    def run(self) -> None:
        try:
            finish = self._record()
            logger.info("%s", f"{finish.outcome}: {finish.reason}" if finish.reason else finish.outcome)
            self._folder.write_finish(finish)
            self._sender.release(self._folder)
            self._keep_lease_until_sent()
        except Exception:
            logger.exception("the recording ended by an error of memflame")
        finally:
            self._sender.release(self._folder)
            self.has_ended = True
            self._on_end()

    def _record(self) -> Finish:
        try:
            spec = RunSpec.from_dict(self._claim.spec)
        except (ValueError, KeyError, TypeError) as error:
            return Finish("failed", f"This agent can't make this recording: {error}", 0)
        if is_own(spec.pid):
            return Finish("failed", f"Process {spec.pid} belongs to the agent, which does not record itself.", 0)
        self._child = TracingProcess(spec, self._folder, own_root=os.getpid(), allowed=self._allowed)
        return self._supervise(self._child)

    def _supervise(self, child: TracingProcess) -> Finish:
        try:
            while child.is_running:
                child.take_events(self._counts, self._sender.wake, for_s=PROGRESS_EVERY_S)
                self._report(child)
                self._enforce(child)
        finally:
            child.kill()
        return child.finish()

    def _report(self, child: TracingProcess) -> None:
        """One progress post. A site that can't be reached stops nothing: what is recorded waits in the spool."""
        if not self._has_lease:
            return
        try:
            order = self._post()
        except ClientError as error:
            if error.status in LOST_LEASE:
                self._has_lease = False
                child.stop(f"The site gave this run up: {error}", outcome="failed")
            elif error.is_final:
                logger.warning("progress was refused: %s", error)
        else:
            if order == "cancel":
                child.cancel()
            elif order == "stop":
                child.stop("")

    def _enforce(self, child: TracingProcess) -> None:
        if self._shutdown.is_set():
            self._stop_for_shutdown()
        if child.overtime_s > OVERTIME_S:
            child.stop("The recording did not end by itself.", outcome="failed")
        if child.is_overdue:
            child.kill()

    def _stop_for_shutdown(self) -> None:
        if self._child is not None:
            self._child.stop("The agent on this host was stopped.")

    def _keep_lease_until_sent(self) -> None:
        """Sending the last snapshot over a slow line takes longer than a lease."""
        while self._folder.exists and self._has_lease and not self._shutdown.wait(PROGRESS_EVERY_S):
            with suppress(ClientError):
                self._renew()

    def _renew(self) -> None:
        try:
            self._post()
        except ClientError as error:
            self._has_lease = error.status not in LOST_LEASE

    def _post(self) -> str:
        counts = self._counts
        return self._client.progress(
            self._folder.run,
            self._folder.attempt,
            phase=counts.phase,
            elapsed_s=counts.elapsed_s,
            events=counts.events,
            lost=counts.lost,
        )
