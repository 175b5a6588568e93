"""What a person sees while a recording runs: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from tracer.collectors import Progress
from tracer.collectors.session import Listener
from tracer.options.pull import FILES, PULLED, URL
from tracer.profile.grade import grade
from tracer.profile.model import Number, Profile
from tracer.protocol import LOSS_CAUSES, RunSpec, as_captured

_LINE_EVERY_S = 5.0
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


@contextmanager
def view_of(spec: RunSpec, out: TextIO) -> Iterator[Listener]:
    if not out.isatty():
        yield _Lines(spec, out)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[events]}"))
    with Bar(*columns, console=Console(file=out)) as bar:
        yield _Bar(spec, out, bar)


class _Lines:
    def __init__(self, spec: RunSpec, out: TextIO) -> None:
        self._spec, self._out = spec, out
        self._line_due_s = _LINE_EVERY_S

    def on_attached(self) -> None:
        print(attached_text(self._spec), file=self._out, flush=True)

    def on_progress(self, elapsed_s: float, progress: Progress) -> None:
        if elapsed_s >= self._line_due_s:
            self._line_due_s = elapsed_s + _LINE_EVERY_S
            print(f"{elapsed_s:.0f} s: {events_text(progress)}", file=self._out, flush=True)

    def on_snapshot(self, seq: int, elapsed_s: float, profile: Profile, is_last: bool) -> None:
        if is_last:
            print(summary_text(profile), file=self._out, flush=True)


class _Bar:
    def __init__(self, spec: RunSpec, out: TextIO, bar: Any) -> None:
        self._spec, self._out, self._bar = spec, out, bar
        self._task = bar.add_task("attaching", total=spec.duration_s, events="")

    def on_attached(self) -> None:
        self._bar.console.print(attached_text(self._spec), highlight=False)
        self._bar.reset(self._task, description=_doing_text(self._spec))

    def on_progress(self, elapsed_s: float, progress: Progress) -> None:
        self._bar.update(self._task, completed=elapsed_s, events=events_text(progress))

    def on_snapshot(self, seq: int, elapsed_s: float, profile: Profile, is_last: bool) -> None:
        if is_last:
            self._bar.console.print(summary_text(profile), highlight=False, markup=False)


def attached_text(spec: RunSpec) -> str:
    if spec.is_pulled:
        where = spec.options.get(URL) or spec.options.get(FILES) or "the files that the process names"
        often = f" every {spec.snapshot_every_s:g} s for {spec.duration_s:g} s" if spec.snapshot_every_s else ""
        return f"pulling {spec.collector} from {where}{often}"
    return f"attached to {target_text(spec)}, recording {spec.collector} for {spec.duration_s:g} s"


def _doing_text(spec: RunSpec) -> str:
    return f"pulling {spec.collector}" if spec.is_pulled else f"recording {target_text(spec)}"


def target_text(spec: RunSpec) -> str:
    pids = spec.selector.pids
    processes = spec.selector.words if len(pids) == 1 else f"{len(pids)} processes ({spec.selector.words})"
    if not spec.options.get("follow_children"):
        return processes
    return f"{processes} and {'its' if len(pids) == 1 else 'their'} children"


def events_text(progress: Progress) -> str:
    losses = ", ".join(f"{count:,} lost: {LOSS_CAUSES[cause]}" for cause, count in progress.lost.items())
    return f"{progress.events:,} events" + (f", {losses}" if losses else "")


def summary_text(profile: Profile) -> str:
    """Totals of a recording, one line a value type, and what is not in them."""
    capture = profile.capture
    lines = [
        f"{amount(profile.total(column), known.unit):>14}  {as_captured(known, capture).meaning}"
        for column, known in enumerate(profile.value_types)
    ]
    lost = capture.get("lost")
    if isinstance(lost, dict):
        lines += [f"{count:>14,}  events lost: {LOSS_CAUSES[cause]}" for cause, count in lost.items()]
    if capture.get("truncated_stacks"):
        lines.append(f"{capture['truncated_stacks']:>14,}  stacks without their root: they had more frames than fit")
    if capture.get("broken_unwinds"):
        lines.append(f"{capture['broken_unwinds']:>14,}  stacks without their root: unwinding broke off")
    lines += _quality_lines(capture)
    notes = capture.get("notes")
    if capture.get("collector") in PULLED and isinstance(notes, list):
        lines += [f"{'':14}  {note}" for note in notes]
    return "\n".join(lines)


_GAPS = {
    "without_stack": "of the value has no stack",
    "lost": "of events were lost",
    "unresolved": "of the graph has no name",
    "broken": "of the value lacks callers",
    "truncated": "of the value is in stacks that were cut",
    "no_events": "no event came from the allocator",
}


def _quality_lines(capture: Mapping[str, object]) -> Iterator[str]:
    """The grade and what is behind it, and what the recording took."""
    verdict = grade(capture)
    gaps = "; ".join(f"{_percent(gap.share)} {_GAPS[gap.cause]}".strip() for gap in verdict.findings)
    yield f"{verdict.grade or '?':>14}  grade of the capture, A to D{': ' if gaps else ''}{gaps}"
    overhead = capture.get("overhead")
    if isinstance(overhead, dict) and "share" in overhead:
        yield f"{_percent(overhead['share']) or '0':>14}  of one core was taken by the recording"


def _percent(share: float) -> str:
    return f"{share * 100:.1f}{_NO_BREAK_SPACE}%" if share else ""


def amount(value: Number, unit: str) -> str:
    """Bytes in powers of 1024 with one decimal, other units as they are, with a real minus sign."""
    sign = "\N{MINUS SIGN}" if value < 0 else ""
    size: float = abs(value)
    if unit != "bytes":
        return f"{sign}{round(size):,}{_NO_BREAK_SPACE}{unit}"
    if size < 1024:
        return f"{sign}{size}{_NO_BREAK_SPACE}B"
    size /= 1024
    for name in ("kB", "MB"):
        if round(size, 1) < 1024:
            return f"{sign}{size:.1f}{_NO_BREAK_SPACE}{name}"
        size /= 1024
    return f"{sign}{size:,.1f}{_NO_BREAK_SPACE}GB"
