"""`memflame record`: memory stacks of live processes to folded stacks, without a site."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from tracer.collectors import CollectorError
from tracer.collectors.ability import abilities, abilities_by_perf
from tracer.collectors.session import Listener, Outcome, run_session
from tracer.commands import targets
from tracer.commands.estimate import print_estimate
from tracer.commands.recording_view import view_of
from tracer.commands.stopping import asked_to_stop
from tracer.options.blocks import COLLECTOR, DEFAULT_AGE_BANDS, NO_AGE_BANDS
from tracer.options.errors import BadOption
from tracer.options.limits import BUDGET_OVER_S, DEFAULT_BUDGET_PERCENT, NO_BUDGET
from tracer.options.modes import DEFAULT_MODE, DEFAULT_SAMPLE_BYTES, MODE, MODES, SAMPLE_BYTES
from tracer.options.perf import SOURCE, SOURCES, is_by_perf
from tracer.options.pull import FILES, PULLED, URL
from tracer.options.unwind import AUTO, UNWIND, UNWINDS
from tracer.process.target import TargetError
from tracer.profile.folded import write_folded
from tracer.profile.model import Profile
from tracer.protocol import COLLECTORS, MAX_DURATION_S, MAX_SNAPSHOTS, RunSpec, check_run_options
from tracer.selector import Selector

_SHORTEST_INTERVAL_S = 0.1


def record(
    pid: targets.Pids = None,
    name: targets.Name = None,
    cgroup: targets.Cgroup = None,
    unit: targets.Unit = None,
    container: targets.Container = None,
    follow_children: targets.FollowChildren = False,
    by_process: targets.ByProcess = False,
    collector: Annotated[str, typer.Option(help=f"What to record: {', '.join(COLLECTORS)}")] = "malloc",
    duration: Annotated[float, typer.Option(help=f"Seconds to record, {MAX_DURATION_S} at most")] = 10.0,
    snapshot_every: Annotated[
        float, typer.Option(help="Also write a snapshot each so many seconds, to FILE.0001 and so on; needs -o")
    ] = 0.0,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help=f"Where {', '.join(PULLED)} are pulled from: http://127.0.0.1:4000/v1/prof/mem"
        ),
    ] = None,
    files: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Or the files they are written to: '/var/log/jeprof.*.heap'"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File for the folded stacks; default: standard output")
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="PERCENT",
            help=f"End above this share of one core, averaged over {BUDGET_OVER_S:g} s, and keep what there is; "
            f"or {NO_BUDGET}",
        ),
    ] = f"{DEFAULT_BUDGET_PERCENT:g}",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON; the folded stacks then go to -o only")
    ] = False,
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Record nothing: count for some seconds, and say what recording would cost"),
    ] = False,
    estimate_seconds: Annotated[float, typer.Option(help="Seconds to count for --estimate")] = 3.0,
    lines: Annotated[
        bool, typer.Option("--lines", help="Add file and line to frames, where there is debug information")
    ] = False,
    max_stacks: Annotated[int, typer.Option(help="Stacks to keep apart, 1 kB of locked memory each")] = 16_384,
    max_blocks: Annotated[int, typer.Option(help="Live blocks of malloc to follow, 104 bytes each")] = 1 << 20,
    max_calls: Annotated[int, typer.Option(help="Threads that can be inside a traced call at once")] = 16_384,
    ring_pages: Annotated[
        int, typer.Option(help="Pages of 4 kB for calls that wait to be read, a power of two; not for malloc")
    ] = 4096,
    age_bands: Annotated[
        str | None,
        typer.Option(
            metavar="AGES",
            help=f"Ages by which to tell malloc's blocks apart, or {NO_AGE_BANDS}; default: {DEFAULT_AGE_BANDS}",
        ),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Count only older blocks of malloc as outstanding, such as 30s"),
    ] = None,
    min_size: Annotated[
        int | None, typer.Option(metavar="BYTES", help="Record only allocations of so many bytes or more")
    ] = None,
    max_size: Annotated[
        int | None, typer.Option(metavar="BYTES", help="Record only allocations of so many bytes or fewer")
    ] = None,
    alloc: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIB:FUNC@SIZE",
            help="Follow this function instead of malloc's; SIZE: position of the argument that holds it, or 2*1. "
            "Repeatable; `default` adds the usual ones",
        ),
    ] = None,
    free: Annotated[
        list[str] | None,
        typer.Option(metavar="LIB:FUNC@BLOCK", help="It takes back what --alloc gives out. Repeatable"),
    ] = None,
    addr: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=0xADDRESS", help="Where a program without symbols has malloc, free... Repeatable"),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(metavar="MODE", help=f"How malloc counts: {', '.join(MODES)}; default: {DEFAULT_MODE}"),
    ] = None,
    sample_bytes: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES", help=f"Of mode sampled: one block for each so many bytes; default: {DEFAULT_SAMPLE_BYTES}"
        ),
    ] = None,
    unwind: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help=f"How malloc's stacks are found: {', '.join(UNWINDS)}; default: {AUTO}, which says why"
        ),
    ] = None,
    source: Annotated[
        str, typer.Option(help=f"Who counts, {' or '.join(SOURCES)}: perf follows no frees, and needs no bcc")
    ] = SOURCES[0],
) -> None:
    """Record memory stacks of live processes, or pull a profile that a process makes itself.

    Says "attached" on standard error once events are counted. Ctrl-C ends the recording and keeps what there is.
    Exit codes: 0 recorded, 1 not recorded, 2 wrong usage.
    """
    if estimate:
        return print_estimate(targets.one_pid(pid), estimate_seconds, as_json=as_json)
    _check(collector, duration, snapshot_every, output)
    selector = targets.selector_of(
        pids=pid, name=name, cgroup=cgroup, unit=unit, container=container, is_needed=collector not in PULLED
    )
    if collector in PULLED:
        where = {name: asked for name, asked in ((URL, url), (FILES, files)) if asked is not None}
        return _record(collector, selector, where, duration, snapshot_every, output, as_json=as_json)
    asked = {
        URL: url, FILES: files,
        "age_bands": age_bands, "older_than": older_than, "min_size": min_size, "max_size": max_size,
        "alloc": _joined(alloc), "free": _joined(free), "addr": _joined(addr),
        MODE: mode, SAMPLE_BYTES: sample_bytes, UNWIND: unwind,
    }  # fmt: skip
    options: dict[str, int | str] = {name: value for name, value in asked.items() if value is not None}
    several = {"follow_children": int(follow_children), "by_process": int(by_process)}
    if source != SOURCES[0]:
        options |= {SOURCE: source, **{name: asked for name, asked in several.items() if asked}}
    else:
        if collector == COLLECTOR:
            options.setdefault(MODE, DEFAULT_MODE)
        options |= {"budget": budget, "max_stacks": max_stacks, "max_blocks": max_blocks}
        options |= {"max_calls": max_calls, "ring_pages": ring_pages, "lines": int(lines), **several}
    _record(collector, selector, options, duration, snapshot_every, output, as_json=as_json)


def _record(
    collector: str, selector: Selector | None, options: Mapping[str, int | str], duration: float,
    snapshot_every: float, output: Path | None, *, as_json: bool,
) -> None:  # fmt: skip
    _check_options(collector, options)
    _check_ability(collector, options)
    try:
        found = targets.selected_now(selector) if selector is not None else []
    except TargetError as error:
        _fail(str(error))
    pid, start_time = (found[0].pid, found[0].start_time) if found else (0, 0)
    spec = RunSpec(
        "", collector, pid, start_time, target=targets.target_of(found),
        duration_s=duration, snapshot_every_s=snapshot_every, options=options,
    )  # fmt: skip
    # Of files there may be several at once.
    writer = _Writer(output, keeps_snapshots=snapshot_every > 0 or (spec.is_pulled and URL not in options))
    with asked_to_stop() as should_stop, view_of(spec, sys.stderr) as view:
        try:
            outcome = run_session(spec, _Both(view, writer), should_stop)
        except (CollectorError, OSError) as error:
            _fail(str(error))
    _report(outcome, writer, as_json=as_json)


def _check(collector: str, duration: float, snapshot_every: float, output: Path | None) -> None:
    if collector not in COLLECTORS:
        raise typer.BadParameter(f"there is no collector {collector!r}, there is {', '.join(COLLECTORS)}")
    if not 0 < duration <= MAX_DURATION_S:
        raise typer.BadParameter(f"--duration is {duration:g} s, it must be above 0 and {MAX_DURATION_S} s at most")
    if snapshot_every:
        _check_interval(duration, snapshot_every, output)
    if output is not None and not os.access(output.parent, os.W_OK):
        raise typer.BadParameter(f"can't write to the directory {output.parent}")


def _check_interval(duration: float, snapshot_every: float, output: Path | None) -> None:
    if output is None:
        raise typer.BadParameter("--snapshot-every needs -o: several snapshots can't share standard output")
    if snapshot_every < _SHORTEST_INTERVAL_S:
        raise typer.BadParameter(f"--snapshot-every is {snapshot_every:g} s, the limit is {_SHORTEST_INTERVAL_S} s")
    if duration / snapshot_every > MAX_SNAPSHOTS:
        raise typer.BadParameter(
            f"that would be {duration / snapshot_every:,.0f} snapshots, the limit is {MAX_SNAPSHOTS:,}"
        )


def _joined(words: list[str] | None) -> str | None:
    """As a run spec has them."""
    return ",".join(words) if words else None


def _check_options(collector: str, options: Mapping[str, int | str]) -> None:
    try:
        check_run_options(collector, options)
    except BadOption as error:
        raise typer.BadParameter(f"--{error.name.replace('_', '-')} is {error.reason}") from None


def _check_ability(collector: str, options: Mapping[str, int | str]) -> None:
    by_perf = abilities_by_perf()[collector]
    if collector not in PULLED and is_by_perf(options):
        return _fail(by_perf) if by_perf else None
    if obstacle := abilities()[collector]:
        _fail(obstacle if by_perf else f"{obstacle} perf can record here: --source perf")


class _Writer:
    """Snapshots to files, the last one also kept for the summary."""

    def __init__(self, output: Path | None, *, keeps_snapshots: bool) -> None:
        self.output = output
        self.files: list[str] = []
        self.last: Profile | None = None
        self._keeps_snapshots = keeps_snapshots

    def on_snapshot(self, seq: int, profile: Profile, *, is_last: bool) -> None:
        if self.output is not None and self._keeps_snapshots:
            self._write(self.output.with_name(f"{self.output.name}.{seq:04}"), profile)
        self.last = profile
        if is_last:
            self.finish()

    def finish(self) -> None:
        """Without a last snapshot, as one that was to be pulled did not come, the newest stands for it."""
        if self.output is not None and self.last is not None and str(self.output) not in self.files:
            self._write(self.output, self.last)

    def _write(self, path: Path, profile: Profile) -> None:
        # Under another name first: who waits for the file never reads half of it.
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with unfinished.open("wb") as out:
                write_folded(profile, out)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        self.files.append(str(path))


class _Both:
    """Tells the view what happens, and the writer what to write."""

    def __init__(self, view: Listener, writer: _Writer) -> None:
        self.on_attached, self.on_progress = view.on_attached, view.on_progress
        self._view, self._writer = view, writer

    def on_snapshot(self, seq: int, elapsed_s: float, profile: Profile, is_last: bool) -> None:
        self._writer.on_snapshot(seq, profile, is_last=is_last)
        self._view.on_snapshot(seq, elapsed_s, profile, is_last)


def _report(outcome: Outcome, writer: _Writer, *, as_json: bool) -> None:
    profile = writer.last
    writer.finish()
    if profile is None:
        _fail("no snapshot was taken")
    if outcome.words:
        print(outcome.words, file=sys.stderr)
    if as_json:
        print(json.dumps(_summary(outcome, writer, profile)))
    elif writer.output is None:
        write_folded(profile, sys.stdout)


def _summary(outcome: Outcome, writer: _Writer, profile: Profile) -> dict[str, Any]:
    totals = {known.name: profile.total(column) for column, known in enumerate(profile.value_types)}
    return {
        **profile.capture,
        "outcome": outcome.reason,
        "outcome_words": outcome.words,
        "snapshots": outcome.snapshots,
        "stacks": profile.stack_count,
        "totals": totals,
        "output": writer.files,
    }


def _fail(text: str) -> NoReturn:
    print(f"memflame record: {text}", file=sys.stderr)
    raise typer.Exit(1)
