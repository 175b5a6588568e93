"""Measured shares of a core to the average that the budget is about."""

from __future__ import annotations

import pytest

from tracer.bpf.program import Runs
from tracer.collectors.overhead import OverheadMeter, Shares, busy_ns


def shares(*measured: float) -> Shares:
    """One a second."""
    kept = Shares(window_s=5.0)
    for second, share in enumerate(measured):
        kept.add(float(second), share)
    return kept


def test_a_load_that_lasts_is_above_its_budget_once_a_window_is_full():
    assert not shares(*[0.2] * 5).is_above(0.1)
    assert shares(*[0.2] * 6).is_above(0.1)


def test_a_burst_is_not_above_the_budget_that_its_average_keeps():
    assert not shares(0, 0, 0.0, 0.24, 0.24, 0, 0, 0).is_above(0.1)


def test_a_load_that_begins_late_ends_the_recording_too():
    assert shares(*[0.0] * 60, *[0.3] * 5).is_above(0.1)


def test_the_peak_is_that_of_the_averages_and_the_mean_is_of_all():
    measured = shares(*[0.0] * 5, 0.5, *[0.0] * 14)

    assert measured.peak == pytest.approx(0.1)
    assert measured.mean == pytest.approx(0.025)
    assert measured.average == 0


def test_what_programs_took_is_their_time_and_a_price_for_each_hit():
    before = {"tracepoint": Runs(100, 5_000)}
    after = {"tracepoint": Runs(1_100, 25_000), "perf event": Runs(10, 7_000)}

    assert busy_ns(before, after) == 20_000 + 1_000 * 25 + 7_000 + 10 * 300


def test_a_collector_without_programs_has_no_share():
    meter = OverheadMeter(dict, 0.1)
    try:
        facts = meter.facts()
    finally:
        meter.close()

    assert set(facts) == {"own_share", "budget"}
    assert not meter.is_over_budget
