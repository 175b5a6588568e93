"""Runs of our programs, timed by the kernel now and then, to the share of one core that they and their traps take.

The share is of 1, and of all threads together: recording a program that is busy on many cores can take more than one
of them.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tracer.bpf import syscalls
from tracer.bpf.program import ProbeKind, Runs
from tracer.bpf.trap_cost import hit_ns, trap_costs
from tracer.options.limits import BUDGET_OVER_S

# The kernel's statistics cost each run 0.1 µs, so they are on for a tenth of the time.
_EVERY_S, _FOR_S = 1.0, 0.1
_TRAPS: tuple[ProbeKind, ...] = ("emulated", "single-step", "return")

RunsByKind = Mapping[ProbeKind, Runs]


@dataclass(slots=True)
class Shares:
    """Measured at times that rise, one about every second."""

    window_s: float = BUDGET_OVER_S
    peak: float = 0.0  # of the averages over a window
    count: int = 0
    _sum: float = 0.0
    _began_s: float = 0.0
    _recent: deque[tuple[float, float]] = field(default_factory=deque)

    def add(self, at_s: float, share: float) -> None:
        if self.count == 0:
            self._began_s = at_s
        self.count += 1
        self._sum += share
        self._recent.append((at_s, share))
        while self._recent[0][0] <= at_s - self.window_s:
            self._recent.popleft()
        self.peak = max(self.peak, self.average)

    @property
    def average(self) -> float:
        """Over the last window, or what there is of it."""
        return sum(share for _, share in self._recent) / len(self._recent) if self._recent else 0.0

    @property
    def mean(self) -> float:
        """Since the beginning."""
        return self._sum / self.count if self.count else 0.0

    def is_above(self, budget: float) -> bool:
        """Whether the average of a whole window is: less than that may be a burst."""
        return bool(self._recent) and self._recent[-1][0] - self._began_s >= self.window_s and self.average > budget


@dataclass(frozen=True, slots=True)
class _Reading:
    at_s: float
    length_s: float
    before: RunsByKind
    after: RunsByKind


class OverheadMeter:
    """Measures from when it is made, as often as `look` is called; leaves nothing on or attached when closed."""

    def __init__(self, runs: Callable[[], RunsByKind], budget: float | None) -> None:
        self._runs, self._budget = runs, budget
        self._shares = Shares()
        self._statistics: int | None = None  # descriptor while they are on
        self._before: RunsByKind = {}
        self._unpriced: list[_Reading] = []
        # Beside the recording: with a busy machine it takes so long that a snapshot would come late.
        self._pricing = threading.Thread(target=trap_costs, name="trap costs", daemon=True)
        self._began_s = self._due_s = self._since_s = time.monotonic()
        self._began_own_s = time.process_time()
        self.look()
        if any(kind in self._before for kind in _TRAPS):
            self._pricing.start()

    def look(self) -> None:
        """Begin to measure, or take what was measured, when it is time for that."""
        now_s = time.monotonic()
        if self._statistics is not None:
            if now_s >= self._since_s + _FOR_S:
                self._take()
        elif now_s >= self._due_s:
            self._begin(now_s)
        if not self._pricing.is_alive():
            self._price()

    @property
    def is_over_budget(self) -> bool:
        return self._budget is not None and self._shares.is_above(self._budget)

    def verdict(self) -> str:
        """The sentences by which the brake ends the recording."""
        took, budget = f"{self._shares.average * 100:.1f}", f"{(self._budget or 0) * 100:g}"
        ended_s = time.monotonic() - self._began_s
        text = (
            f"Recording took {took} % of one core over {self._shares.window_s:g} s, its budget is {budget} %: "
            f"it was ended after {ended_s:.0f} s. What was counted until then is kept."
        )
        return re.sub(r"(?<=[0-9]) (?=[%s])", "\N{NO-BREAK SPACE}", text)

    def facts(self) -> dict[str, object]:
        """As the capture has them; without `share` if the kernel gives no statistics."""
        if self._statistics is not None and not (self._shares.count or self._unpriced):
            self._take()
        self._await_prices()
        facts: dict[str, object] = {"own_share": round(self._own_share(), 4), "budget": self._budget}
        if self._shares.count == 0:
            return facts
        trap_ns = {kind: round(hit_ns(kind)) for kind in _TRAPS if kind in self._before}
        return facts | {
            "share": round(self._shares.mean, 5),
            "peak_share": round(self._shares.peak, 5),
            "trap_ns": trap_ns,
            "is_measured": not trap_ns or trap_costs().is_measured,
        }

    def close(self) -> None:
        self._end_statistics()
        self._await_prices()

    def _begin(self, now_s: float) -> None:
        self._due_s = now_s + _EVERY_S
        self._before = self._runs()
        try:
            self._statistics = syscalls.enable_run_statistics()
        except OSError:  # not allowed here: then the capture has no share
            self._due_s = float("inf")
        self._since_s = time.monotonic()

    def _take(self) -> None:
        self._end_statistics()
        after, now_s = self._runs(), time.monotonic()
        if after:
            self._unpriced.append(_Reading(now_s, now_s - self._since_s, self._before, after))

    def _end_statistics(self) -> None:
        if self._statistics is not None:
            os.close(self._statistics)
            self._statistics = None

    def _await_prices(self) -> None:
        if self._pricing.is_alive():
            self._pricing.join()
        self._price()

    def _price(self) -> None:
        for reading in self._unpriced:
            self._shares.add(reading.at_s, busy_ns(reading.before, reading.after) / 1e9 / reading.length_s)
        self._unpriced.clear()

    def _own_share(self) -> float:
        """Of one core, by this process: reading what the kernel sends, naming, writing."""
        return (time.process_time() - self._began_own_s) / max(time.monotonic() - self._began_s, 1e-3)


def busy_ns(before: RunsByKind, after: RunsByKind) -> float:
    """What programs took between two readings: their runs, and the traps that led to them."""
    passed = {kind: runs - before.get(kind, Runs()) for kind, runs in after.items()}
    return sum(runs.ns + runs.count * hit_ns(kind) for kind, runs in passed.items())
