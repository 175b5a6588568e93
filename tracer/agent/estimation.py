"""One estimate from claim to end: the process that counts on one side, the site on the other."""

from __future__ import annotations

import json
import logging
import subprocess
import threading
from dataclasses import dataclass
from typing import Any

from tracer.agent.children import output_of, start_child
from tracer.agent.processes import is_own
from tracer.client import ClientError, EstimateClaim, SiteClient
from tracer.prices import LONGEST_COUNT_S, SHORTEST_COUNT_S

logger = logging.getLogger(__name__)

OVERTIME_S = 20.0  # to attach, to detach, and to measure what a trap costs; the site gives up after 30


@dataclass(frozen=True, slots=True)
class Found:
    """tracer.prices.Estimate.to_dict(), or why there is none."""

    result: dict[str, Any] | None
    reason: str = ""


class Estimation(threading.Thread):
    """Its thread starts the child and outlives it, since the kernel ends a child with the thread that started it."""

    def __init__(self, client: SiteClient, estimate: str, attempt: str) -> None:
        super().__init__(name=estimate, daemon=True)
        self._client, self._estimate, self._attempt = client, estimate, attempt
        self._child: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        try:
            claim = self._client.claim_estimate(self._estimate, self._attempt)
            found = self._count(claim)
            logger.info("%s", found.reason or "counted")
            self._client.finish_estimate(self._estimate, self._attempt, result=found.result, reason=found.reason)
        except ClientError as error:
            # Another agent's, or the site does without: it tells the person that nobody answered.
            logger.warning("no estimate: %s", error)

    def shut_down(self) -> None:
        """The agent ends: an estimate is made again in seconds, so this one is given up."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()

    def _count(self, claim: EstimateClaim) -> Found:
        if is_own(claim.pid):
            return Found(None, f"Process {claim.pid} belongs to the agent, which does not count itself.")
        if not SHORTEST_COUNT_S <= claim.seconds <= LONGEST_COUNT_S:
            limits = f"from {SHORTEST_COUNT_S:g} to {LONGEST_COUNT_S:g} s"
            return Found(None, f"This agent counts {limits}, not {claim.seconds:g} s.")
        task = {"pid": claim.pid, "start_time": claim.start_time, "seconds": claim.seconds}
        self._child = start_child("tracer.agent.counting", task)
        overtime = threading.Timer(claim.seconds + OVERTIME_S, self._child.kill)
        overtime.start()
        try:
            return _read(output_of(self._child).read())
        finally:
            overtime.cancel()
            self._child.kill()
            self._child.wait()


def _read(printed: bytes) -> Found:
    try:
        answer = json.loads(printed)
        return Found(answer["result"], str(answer["reason"]))
    except (ValueError, KeyError, TypeError):
        return Found(None, "The counting process ended without an answer; the agent's log may say why.")
