"""Options of a run that left something out, and its mode, to words: what a graph is made of must be said beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tracer.options.blocks import MAX_BYTES, BlockOptions
from tracer.options.errors import BadOption
from tracer.options.modes import mode_captured
from tracer.profile.amounts import size
from webapp.runs.models import Run, Snapshot
from webapp.runs.templatetags.numbers import span


def filter_words(run: Run, snapshots: list[Snapshot]) -> list[str]:
    """Of a recording by what was asked for, of an upload by what its newest snapshot says of itself."""
    options = run.spec.get("options", {}) if run.spec else _claimed(snapshots)
    by_perf = ["recorded by perf"] if _source(run, snapshots) == "perf" else []
    try:
        return [*by_perf, *_words(BlockOptions.of(options))]
    except BadOption:
        return by_perf  # a file claims what no recording could have had


def _source(run: Run, snapshots: list[Snapshot]) -> object:
    if run.spec:
        return run.spec.get("options", {}).get("source")
    return snapshots[-1].capture.get("source") if snapshots else None


def mode_words(snapshots: list[Snapshot]) -> str:
    """How a recording of malloc counted, by what its newest snapshot says; empty if it says nothing."""
    mode = mode_captured(snapshots[-1].capture) if snapshots else None
    if mode is None:
        return ""
    if mode.is_sampled:
        return f"estimated from samples: one block for each {size(mode.sample_bytes)} on average"
    return "calls at their entry only: nothing of frees" if mode.is_calls else "every block followed"


def _claimed(snapshots: list[Snapshot]) -> Mapping[str, Any]:
    claimed = snapshots[-1].capture.get("filters") if snapshots else None
    return claimed if isinstance(claimed, dict) else {}


def _words(options: BlockOptions) -> Iterator[str]:
    if options.older_than_s:
        yield f"only blocks older than {span(options.older_than_s)}"
    if options.min_bytes and options.max_bytes < MAX_BYTES:
        yield f"only blocks of {size(options.min_bytes)} to {size(options.max_bytes)}"
    elif options.min_bytes:
        yield f"only blocks of {size(options.min_bytes)} and more"
    elif options.max_bytes < MAX_BYTES:
        yield f"only blocks of up to {size(options.max_bytes)}"
