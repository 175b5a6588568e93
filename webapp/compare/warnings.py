"""What a reader of a difference must know before trusting it: one sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tracer import protocol
from tracer.options.modes import ModeOptions, mode_captured
from tracer.profile.amounts import size
from tracer.profile.grade import grade
from webapp.compare.models import DiffPayload
from webapp.compare.sides import Side, refused, taken_at
from webapp.flamegraph.quality import WORDS as GRADE_WORDS

_TOLD_APART = ("lost", "skipped_lines")  # gaps with a sentence of their own
SAME_LENGTH = 0.1  # captures whose lengths differ by less than this share of the longer are called equally long


def warnings(before: Side, after: Side, value_type: str, diff: DiffPayload) -> list[str]:
    return [
        *refused(before, after),
        *_about_numbers(before, after, value_type),
        *_about_sampling(before, after),
        *_about_origin(before, after),
        *_about_system(before, after),
        *_about_binaries(before, after),
        *_about_capture("Before", before),
        *_about_capture("After", after),
        *_about_overlap(diff),
    ]


def _about_numbers(before: Side, after: Side, value_type: str) -> Iterator[str]:
    old = before.value_type(value_type)
    if old["kind"] == "flow" and not _about_equal(before.covers_s, after.covers_s):
        yield (
            f"{value_type} adds up while tracing, and before covers {before.covers_s:g} s, after {after.covers_s:g} s."
        )


def _about_sampling(before: Side, after: Side) -> Iterator[str]:
    """Samples are scaled to bytes where they are recorded, so totals compare; small frames may be missing."""
    old, new = (mode_captured(side.snapshot.capture) for side in (before, after))
    if old is None or new is None or old.facts() == new.facts():
        return
    caution = "values are scaled to bytes, yet small frames of a sampled side may be missing or too large."
    yield f"Before {_counts(old)}, after {_counts(new)}: {caution}"


def _counts(mode: ModeOptions) -> str:
    return f"follows one block for each {size(mode.sample_bytes)}" if mode.is_sampled else "follows every block"


def _about_system(before: Side, after: Side) -> Iterator[str]:
    for fact in ("distribution", "kernel"):
        old, new = (side.run.host.facts.get(fact, "") if side.run.host else "" for side in (before, after))
        if old and new and old != new:
            yield f"The {fact} of the host is {old} before and {new} after."


def _about_binaries(before: Side, after: Side) -> Iterator[str]:
    """Of modules with frames without a name: of others a capture does not tell."""
    old, new = (side.snapshot.capture.get("build_ids") for side in (before, after))
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return
    others = sorted(str(module) for module in old.keys() & new.keys() if old[module] != new[module])
    if others:
        yield (
            f"{', '.join(others[:3])}{' and others' if len(others) > 3 else ''} "
            f"{'is another build' if len(others) == 1 else 'are other builds'} after: places without a name "
            "have moved, so they do not match."
        )


def _about_origin(before: Side, after: Side) -> Iterator[str]:
    if before.name == after.name:
        yield "Both sides are the same snapshot."
        return
    if before.run.collector != after.run.collector:
        yield f"Before was made by {before.run.collector}, after by {after.run.collector}."
    elif _options(before) != _options(after):
        yield "The two runs were recorded with different options, so they may have counted differently."
    for word, old, new in (
        ("service", before.run.service, after.run.service),
        ("host", before.run.host_name, after.run.host_name),
    ):
        if old != new:
            yield f"The {word} is {old or 'not known'} before and {new or 'not known'} after."
    if taken_at(before.run) > taken_at(after.run):
        yield "Before was taken later than after: the sides are swapped in time."


def _about_capture(side_name: str, side: Side) -> Iterator[str]:
    if thinned := side.snapshot.capture.get("thinned"):
        yield f"{side_name}: {thinned}"
    for cause, count in lost(side).items():
        why = protocol.LOSS_CAUSES.get(cause, cause)
        yield f"{side_name} lost {count:,} events ({why}): its numbers are too small."
    verdict = grade(side.snapshot.capture, skipped_lines=side.snapshot.skipped_lines)
    if any(gap.grade in "CD" for gap in verdict.findings if gap.cause not in _TOLD_APART):
        yield f"{side_name} is a capture of grade {GRADE_WORDS[verdict.grade]}; its run page tells why."
    if side.snapshot.skipped_lines:
        yield f"{side_name} skipped {side.snapshot.skipped_lines:,} lines of its file."


def _about_overlap(diff: DiffPayload) -> Iterator[str]:
    if diff.common_nodes == 0:
        yield "The sides have no frame in common: all of before is gone and all of after is new."


def lost(side: Side) -> dict[str, int]:
    """Events lost by cause. What an upload claims of itself may be anything, so only counts are taken."""
    claimed = side.snapshot.capture.get("lost")
    if not isinstance(claimed, Mapping):
        return {}
    return {str(cause): count for cause, count in claimed.items() if isinstance(count, int) and count > 0}


def _options(side: Side) -> Any:
    return side.run.spec.get("options", {})


def _about_equal(one_s: float, other_s: float) -> bool:
    return abs(one_s - other_s) <= SAME_LENGTH * max(one_s, other_s)
