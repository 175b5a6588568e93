"""One collector on one target: from attaching to snapshots with names, and away again."""

from __future__ import annotations

import platform
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial

from tracer.bpf.errors import BpfError
from tracer.bpf.program import KernelIds
from tracer.collectors import registry
from tracer.collectors.collector import Collector, lost
from tracer.collectors.errors import CollectorError
from tracer.collectors.mode_choice import decided
from tracer.collectors.naming import Naming
from tracer.collectors.options import check_options, option
from tracer.collectors.overhead import OverheadMeter
from tracer.collectors.process_names import ProcessNames
from tracer.collectors.processes import Processes
from tracer.options.limits import budget_share
from tracer.process.target import TargetError
from tracer.profile.gaps import gaps_of
from tracer.profile.grade import grade
from tracer.profile.model import Profile
from tracer.protocol import RunSpec, value_types_of

_REFRESH_EVERY_S = 0.5  # what is mapped and gone between two looks keeps no names
_REFRESH_SHARE = 0.05  # of the time, at most: reading the maps also holds up a target that maps
_SLICE_S = 0.1
_DRAINED_WITHIN_S = 1.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Counted in the kernel since the recording began."""

    events: int = 0
    lost: dict[str, int] = field(default_factory=dict)  # causes of protocol.LOSS_CAUSES


class Recording:
    """Attaches when entered, and counts from then on; `close` leaves no probe."""

    def __init__(self, spec: RunSpec, *, own_root: int) -> None:
        if spec.collector not in registry.MODULES:
            raise CollectorError(f"unknown collector {spec.collector!r}, there is {', '.join(registry.MODULES)}")
        check_options(spec)
        self.spec = spec
        self._own_root = own_root
        self.value_types = value_types_of(spec.collector, spec.options)
        self._resources = ExitStack()
        self._ended: float | None = None  # when released, if before the end

    def __enter__(self) -> Recording:
        try:
            self._attach()
        except BaseException as error:
            self.close()
            if isinstance(error, TargetError | BpfError | OSError):
                raise CollectorError(str(error)) from error
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait(self, seconds: float) -> bool:
        """Take in events for that long; False as soon as the target has exited, with all its events taken in."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._refresh()
            self._meter.look()
            if self._processes.has_exited():
                break
            slice_s = min(left, _SLICE_S, self._processes.longest_wait_s)
            if self._collector.poll(max(1, int(slice_s * 1000))) is None:
                self._processes.await_exit(slice_s)
        self._drain()
        return not self._processes.has_exited()

    def over_budget(self) -> str:
        """Why the recording must end by its budget, as sentences; empty if it need not."""
        return self._meter.verdict() if self._meter.is_over_budget else ""

    def release(self) -> None:
        """Detach at once; the snapshot that is taken then is of this moment."""
        self._collector.release()
        self._ended = time.monotonic()
        self._drain()

    def progress(self) -> Progress:
        counters = self._collector.counters()
        return Progress(counters["events"], lost(counters))

    def snapshot(self) -> Profile:
        """Stacks root first, values since the recording began."""
        self._drain()
        self._processes.refresh()
        profile = Profile(self.value_types)
        rows = [(stack, values) for stack, values in self._collector.values() if any(values)]
        # Before names, which take their time.
        elapsed_s, progress = (self._ended or time.monotonic()) - self._began, self.progress()
        self._names.resolve(stack for stack, _ in rows)
        naming = Naming(self._names)
        for stack, values in rows:
            profile.add(naming.frames(stack), values)
        capture = self._capture(naming, elapsed_s, progress) | asdict(gaps_of(profile, is_ours=True))
        profile.capture = capture | {"grade": grade(capture).grade}
        return profile

    def last_snapshot(self) -> Profile:
        return self.snapshot()

    def kernel_ids(self) -> KernelIds:
        """What the kernel holds for this recording; nothing is left of it after `close`."""
        return self._collector.kernel_ids()

    def close(self) -> None:
        try:
            self._resources.close()
        except BpfError as error:
            raise CollectorError(str(error)) from error

    def _attach(self) -> None:
        spec = self.spec
        self._processes = Processes(spec, own_root=self._own_root)
        self._resources.callback(self._processes.close)
        # A ring buffer is full within a second, and names may take longer.
        meanwhile = partial(self._drain, _SLICE_S)
        self._names = ProcessNames(self._processes, with_lines=bool(option(spec, "lines")), meanwhile=meanwhile)
        self._resources.callback(self._names.close)
        spec, self._choice = decided(spec)
        self.value_types = value_types_of(spec.collector, spec.options)
        self._collector: Collector = registry.open_collector(spec, self._processes)
        self._resources.callback(self._collector.close)
        if self._processes.has_exited():
            raise CollectorError(f"process {self._processes.first.pid} exited while the probes were being placed")
        self._collector.begin()
        self._began = time.monotonic()
        self._meter = OverheadMeter(self._collector.runs, budget_share(spec.options))
        self._resources.callback(self._meter.close)
        self._refresh_due = self._began + _REFRESH_EVERY_S
        self._began_at = datetime.now(UTC)

    def _refresh(self) -> None:
        began = time.monotonic()
        self._processes.look()
        if began >= self._refresh_due:
            self._processes.refresh()
            ended = time.monotonic()
            self._refresh_due = ended + max(_REFRESH_EVERY_S, (ended - began) / _REFRESH_SHARE)

    def _drain(self, within_s: float = _DRAINED_WITHIN_S) -> None:
        """Take in what has been sent until now, or most of it while the target sends without pause."""
        deadline = time.monotonic() + within_s
        while self._collector.poll(0) and time.monotonic() < deadline:
            pass

    def _capture(self, naming: Naming, elapsed_s: float, progress: Progress) -> dict[str, object]:
        return {
            "collector": self.spec.collector,
            "pid": self._processes.first.pid,
            "command": self._processes.first.command,
            "host": platform.node(),
            "started_at": self._began_at.isoformat(timespec="milliseconds"),
            "elapsed_s": round(elapsed_s, 3),
            "events": progress.events,
            "lost": progress.lost,
            "truncated_stacks": naming.truncated_stacks,
            "broken_unwinds": naming.broken_unwinds,
            "unresolved_frames": naming.unresolved_frames,
            "frames": naming.frame_count,
            "probes": [asdict(probe) for probe in self._collector.probes()],
            "overhead": self._meter.facts(),
            "build_ids": self._names.build_ids(naming.unresolved_modules),
            **self._facts(),
        }

    def _facts(self) -> dict[str, object]:
        facts = {**self._processes.facts(), **self._collector.facts()}
        notes = facts.get("notes", [])
        own = [*self._choice.values(), *(notes if isinstance(notes, list) else [])]
        return {**self._choice, **facts, "notes": [*self._processes.notes(), *own, *self._names.notes()]}
