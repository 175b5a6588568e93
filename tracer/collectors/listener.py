"""Who is told what happens in a run, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from tracer.collectors.recording import Progress
from tracer.profile.model import Profile

Reason = Literal["done", "stopped", "target_exited", "over_budget"]


class Listener(Protocol):
    def on_attached(self) -> None:
        """Events are counted from now on."""

    def on_progress(self, elapsed_s: float, progress: Progress) -> None: ...

    def on_snapshot(self, seq: int, elapsed_s: float, profile: Profile, is_last: bool) -> None:
        """A pulled profile that was to be the last may not come: then none is told to be."""


@dataclass(frozen=True, slots=True)
class Outcome:
    reason: Reason
    snapshots: int
    words: str = ""  # for people, where the reason alone does not say it
