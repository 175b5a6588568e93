"""Which values may be taken from each other: those of one unit and kind, counted by one measure."""

from __future__ import annotations

from typing import Any

import pytest

from tracer.profile.comparable import Counted, why_not


def side(unit: str = "bytes", kind: str = "level", **capture: Any) -> Counted:
    return Counted("heap", unit, kind, capture)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (side(), side()),
        (side(), side(mode="calls")),  # one says nothing of its mode
        (side(mode="exact"), side(mode="sampled", sample_bytes=4096)),  # scaled to bytes where it was recorded
        (side(sample_period=[1, "ms", "cpu"]), side(sample_period=[2, "ms", "cpu"])),  # bytes are scaled
        (side("samples", sample_period=[1, "ms", "cpu"]), side("samples")),
        (side("samples", sample_period="1"), side("samples", sample_period=[0, "ms", "cpu"])),
        (side(is_unscaled=True), side(is_unscaled=True)),
    ],
)
def test_what_may_be_compared_needs_no_words(before: Counted, after: Counted) -> None:
    assert why_not(before, after) == why_not(after, before) == ""


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (side(), side("pages"), "heap is in bytes before and in pages after: one can't be taken from the other."),
        (side(), side(kind="flow"), "heap is a level before and a flow after: one can't be taken from the other."),
        (
            side(mode="exact"),
            side(mode="calls"),
            "heap is counted at the entry of calls on one side only: one can't be taken from the other.",
        ),
        (
            side(),
            side(is_unscaled=True),
            "heap has the sampled sizes only after, and estimates of all on the other side.",
        ),
    ],
)
def test_what_may_not_is_refused_in_words(before: Counted, after: Counted, words: str) -> None:
    assert why_not(before, after) == words
    assert why_not(after, before) != ""


def test_equal_totals_make_samples_comparable_but_no_units() -> None:
    assert why_not(side(), side(is_unscaled=True), is_scaled=True) == ""
    assert why_not(side(), side("pages"), is_scaled=True) != ""
