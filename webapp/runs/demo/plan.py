"""What the demo project holds: the bundled service before and after a deploy, each seen by the collectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SERVICE = "demo-shop"
CAPTURES = Path(__file__).resolve().parent / "captures"
"""Recorded by the project with `memflame record`, for machines that can't record: VERSION-COLLECTOR.folded."""


@dataclass(frozen=True, slots=True)
class Recording:
    """`version` is the argument of leaky_service; `deploy` is what the site calls it."""

    version: int
    deploy: str
    collector: str
    duration_s: float = 10.0
    snapshot_every_s: float = 2.0

    @property
    def capture(self) -> Path:
        return CAPTURES / f"{self.version}-{self.collector}.folded"


RECORDINGS = (
    Recording(1, "2026.11.1", "malloc"),
    Recording(2, "2026.11.2", "malloc"),
    Recording(2, "2026.11.2", "mmap"),
    Recording(2, "2026.11.2", "page_faults"),
    Recording(2, "2026.11.2", "brk"),
)
"""Compared at best: the first two."""
