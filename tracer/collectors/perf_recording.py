"""One collector by perf on one target: the same steps as `Recording`, on hosts without bcc."""

from __future__ import annotations

import os
import platform
import shutil
import time
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from tracer.bpf.errors import BpfError
from tracer.collectors.errors import CollectorError
from tracer.collectors.options import check_options
from tracer.collectors.perf_events import asked_of
from tracer.collectors.perf_parts import Part, Question
from tracer.collectors.perf_totals import PerfTotals
from tracer.collectors.recording import Progress
from tracer.options.blocks import COLLECTOR as BLOCK_COLLECTOR
from tracer.options.modes import CALLS, MODE
from tracer.options.perf import BLIND, DEFAULT_PERF_PAGES, unwind_by_perf
from tracer.perf.recorder import PerfError, PerfRecorder
from tracer.perf.tracepoints import kept_back
from tracer.perf.uprobes import Uprobes
from tracer.process.address_space import AddressSpace
from tracer.process.names import FrameNames
from tracer.process.selection import select
from tracer.process.target import Target, TargetError, read_status
from tracer.profile.gaps import gaps_of
from tracer.profile.grade import grade
from tracer.profile.model import Profile
from tracer.protocol import RunSpec, value_types_of
from tracer.symbols.symbolizer import Symbolizer

PART_BYTES = 32 << 20  # of a file; then it is read while perf writes the next one
_SLICE_S = 0.1
_REFRESH_EVERY_S = 0.5
_DIRECTORY = "memflame-perf-"
_FRAMES_SETTING = Path("/proc/sys/kernel/perf_event_max_stack")


class PerfRecording:
    """Attaches when entered, and counts from then on; `close` leaves nothing in the kernel and no file."""

    def __init__(self, spec: RunSpec, *, own_root: int) -> None:
        check_options(spec)
        if spec.target:
            raise CollectorError(f"perf records one process at a time, not {spec.target}: choose one, or record by bcc")
        self.spec = spec
        self._own_root = own_root
        self.value_types = value_types_of(spec.collector, spec.options)
        self._unwind, self._unwind_reason = unwind_by_perf(spec.collector, spec.options)
        self._resources = ExitStack()
        self._part: Part | None = None  # being read

    def __enter__(self) -> PerfRecording:
        try:
            self._attach()
        except BaseException as error:
            self.close()
            if isinstance(error, TargetError | BpfError | PerfError | OSError):
                raise CollectorError(str(error)) from error
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait(self, seconds: float) -> bool:
        """Let perf record for that long; False as soon as the target has exited."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._refresh()
            self._read_on()
            if self._target.exits_within(min(left, _SLICE_S)):
                return False
            if not self._recorder.is_running and not self._target.exits_within(_SLICE_S):
                self._end()  # raises perf's reason, if it gives one
                raise CollectorError("perf ended before the recording did")
        return not self._target.has_exited()

    def progress(self) -> Progress:
        """Of what has been read: perf's files are read in parts, and before each snapshot."""
        return Progress(self._totals.samples, self._lost())

    def over_budget(self) -> str:
        """What perf takes is not measured."""
        return ""

    def release(self) -> None:
        self._finish_part()
        self._end()

    def snapshot(self) -> Profile:
        """Stacks root first, values since the recording began."""
        self._finish_part()
        file = self._recorder.part()
        if file is not None:
            self._read(file)
        return self._profile()

    def last_snapshot(self) -> Profile:
        """The same, with what perf tells only at its end: how much it lost."""
        self._finish_part()
        self._end()
        profile = self._profile()
        if kept := self._kept_back():
            reason = "A BPF program of another tracer came meanwhile and kept events from perf, how many is not known"
            profile.capture = {**profile.capture, "notes": [f"{reason}: {', '.join(kept)}.", *self._notes()]}
        return profile

    def close(self) -> None:
        if self._part is not None:
            self._part.kill()
            self._part = None
        self._resources.close()

    def _attach(self) -> None:
        spec = self.spec
        select(spec.selector, own_root=self._own_root)  # refuses what must not be recorded
        self._target = Target(spec.pid, start_time=spec.start_time)
        self._resources.callback(self._target.close)
        self._space = AddressSpace(self._target)
        self._resources.callback(self._space.close)
        names = FrameNames(self._space, Symbolizer())
        self._resources.callback(names.close)
        directory = _own_directory()
        self._resources.callback(shutil.rmtree, directory, ignore_errors=True)
        uprobes = Uprobes() if spec.collector == "malloc" else None
        if uprobes is not None:
            self._resources.callback(uprobes.close)
        self._asked = asked_of(
            spec.collector, self._target, self._space, unwind=self._unwind, uprobes=uprobes, links=directory
        )
        asked = self._asked
        self._question = Question(
            spec.collector, spec.pid, asked.leaf_by_event, asked.span_by_event, asked.wrappers, _max_frames()
        )
        self._totals = PerfTotals(self.value_types, names, self._asked.state)
        self._recorder = PerfRecorder(
            directory, spec.pid, events=self._asked.events, unwind=self._unwind,
            pages=int(spec.options.get("perf_pages", DEFAULT_PERF_PAGES[self._unwind])),
        )  # fmt: skip
        self._resources.callback(self._recorder.close)
        self._recorder.begin()
        if kept := self._kept_back():
            raise CollectorError(
                f"{', '.join(kept)} does not reach perf: a BPF program of another tracer sits on it and keeps its "
                "events. End that one first"
            )
        self._began, self._began_at = time.monotonic(), datetime.now(UTC)
        self._refresh_due = self._began + _REFRESH_EVERY_S

    def _refresh(self) -> None:
        """So that callers in libraries that are loaded and gone again have names."""
        if time.monotonic() >= self._refresh_due:
            self._space.refresh()
            self._refresh_due = time.monotonic() + _REFRESH_EVERY_S

    def _read_on(self) -> None:
        """Keep perf's files small without waiting for one to be read."""
        if self._part is not None:
            if self._part.is_answering():
                self._finish_part()
        elif self._recorder.written_bytes > PART_BYTES and (file := self._recorder.part()) is not None:
            self._part = Part(file, self._question, self._totals.state)

    def _finish_part(self) -> None:
        if self._part is not None:
            self._totals.add(self._part.stacks())
            self._part = None

    def _read(self, file: Path) -> None:
        self._part = Part(file, self._question, self._totals.state)
        self._finish_part()

    def _end(self) -> None:
        try:
            files = self._recorder.end()
        except PerfError as error:
            raise CollectorError(str(error)) from error
        for file in files:
            self._read(file)

    def _kept_back(self) -> list[str]:
        return kept_back(event for event in self._asked.events if event.startswith("syscalls:"))

    def _notes(self) -> list[str]:
        return [f"Recorded by perf. {BLIND[self.spec.collector]}"]

    def _lost(self) -> dict[str, int]:
        return {"perf_lost": self._totals.lost} if self._totals.lost else {}

    def _profile(self) -> Profile:
        self._space.refresh()
        profile = self._totals.profile()
        capture: dict[str, object] = {
            "collector": self.spec.collector,
            "source": "perf",
            "pid": self.spec.pid,
            "command": self._target.command,
            "host": platform.node(),
            "started_at": self._began_at.isoformat(timespec="milliseconds"),
            "elapsed_s": round(time.monotonic() - self._began, 3),
            "events": self._totals.samples,
            "lost": self._lost(),
            "truncated_stacks": self._totals.truncated_stacks,
            **({MODE: CALLS} if self.spec.collector == BLOCK_COLLECTOR else {}),
            "unwind": self._unwind,
            "unwind_reason": self._unwind_reason,
            "probes": [asdict(probe) for probe in self._asked.probes],
            "notes": self._notes(),
            **self._asked.facts,
            **asdict(gaps_of(profile, is_ours=True)),
        }
        profile.capture = capture | {"grade": grade(capture).grade}
        return profile


def _own_directory() -> Path:
    """For perf's files, which hold the target's memory: nobody else may read it. Those of dead processes go."""
    place = Path(gettempdir())
    for left in place.glob(f"{_DIRECTORY}*-*-*"):
        if left.lstat().st_uid == os.geteuid() and not _is_alive(left.name):
            shutil.rmtree(left, ignore_errors=True)
    pid = os.getpid()
    return Path(mkdtemp(prefix=f"{_DIRECTORY}{pid}-{read_status(pid).start_time}-"))


def _is_alive(name: str) -> bool:
    pid, start_time = name.removeprefix(_DIRECTORY).split("-")[:2]
    try:
        return str(read_status(int(pid)).start_time) == start_time
    except (TargetError, ValueError):
        return False


def _max_frames() -> int:
    try:
        return int(_FRAMES_SETTING.read_text())
    except OSError:
        return 127
