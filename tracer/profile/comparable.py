"""Whether values of one side may be taken from the other's: those of one unit and one kind, counted by one measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

RAW = "samples"  # unit of values that stand for as much as the sampling says


@dataclass(frozen=True, slots=True)
class Counted:
    """A value type of one side, and what its capture says of how it was counted."""

    name: str
    unit: str
    kind: str
    capture: Mapping[str, object]


def why_not(before: Counted, after: Counted, *, is_scaled: bool = False) -> str:
    """For people; empty if they may. `is_scaled`: totals are made equal first, so that only shares are compared."""
    return next(_reasons(before, after, is_scaled=is_scaled), "")


def _reasons(before: Counted, after: Counted, *, is_scaled: bool) -> Iterator[str]:
    name = before.name
    if before.kind != after.kind:
        yield f"{name} is a {before.kind} before and a {after.kind} after: one can't be taken from the other."
    if before.unit != after.unit:
        yield f"{name} is in {before.unit} before and in {after.unit} after: one can't be taken from the other."
    modes = [side.capture.get("mode") for side in (before, after)]
    if all(modes) and modes.count("calls") == 1:
        yield f"{name} is counted at the entry of calls on one side only: one can't be taken from the other."
    if not is_scaled:
        yield from _about_sampling(before, after)


def _about_sampling(before: Counted, after: Counted) -> Iterator[str]:
    """Samples that were scaled to what they stand for compare at any rate; those that were not, only at one."""
    if _is_unscaled(before) != _is_unscaled(after):
        which = "before" if _is_unscaled(before) else "after"
        yield f"{before.name} has the sampled sizes only {which}, and estimates of all on the other side."
    rates = [_rate(side) for side in (before, after)]
    if before.unit == RAW and all(rates) and rates[0] != rates[1]:
        yield (
            f"{before.name} counts samples, one every {rates[0]} before and every {rates[1]} after: "
            "they stand for different amounts."
        )


def _is_unscaled(side: Counted) -> bool:
    return bool(side.capture.get("is_unscaled"))


def _rate(side: Counted) -> str:
    """`10,000,000 nanoseconds of cpu`; empty where the capture does not tell."""
    match side.capture.get("sample_period"):
        case [int(period), str(unit), str(what)] if period > 0:
            return f"{period:,} {unit} of {what}"
    return ""
