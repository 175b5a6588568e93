"""What the four collectors have in common for the recording that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from tracer.bpf.program import KernelIds, ProbeKind, Runs
from tracer.collectors.processes import Processes
from tracer.collectors.stacks import CapturedStack
from tracer.protocol import LOSS_CAUSES, RunSpec


@dataclass(frozen=True, slots=True)
class Probe:
    """One probed function, as the capture tells of it; `offset` is in bytes from its first instruction."""

    module: str
    symbol: str
    offset: int
    kind: str


class Collector(Protocol):
    """Made of a spec and its processes, which it lets watch its program; attached when made, counting after `begin`."""

    def begin(self) -> None: ...

    def poll(self, timeout_ms: int) -> int | None:
        """Take in some of what the kernel has sent, waiting that long for the first; None if it sends nothing."""
        ...

    def counters(self) -> dict[str, int]: ...

    def values(self) -> Iterator[tuple[CapturedStack, tuple[int, ...]]]:
        """Cumulative since `begin`, in the order of the collector's value types; a stack may occur twice."""
        ...

    def probes(self) -> list[Probe]: ...

    def facts(self) -> dict[str, object]:
        """Further keys of the capture."""
        ...

    def runs(self) -> dict[ProbeKind, Runs]:
        """Of its programs; empty if it has none."""
        ...

    def release(self) -> None:
        """Take all probes away now; what was counted until then can still be read."""
        ...

    def kernel_ids(self) -> KernelIds: ...

    def close(self) -> None: ...


class Open(Protocol):
    """How a collector module makes its collector; it raises CollectorError, BpfError or OSError."""

    def __call__(self, spec: RunSpec, processes: Processes) -> Collector: ...


def lost(counters: dict[str, int]) -> dict[str, int]:
    """Losses that there were, by cause."""
    return {cause: counters[cause] for cause in LOSS_CAUSES if counters.get(cause)}
