"""The price of a probe hit, measured on ourselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer.bpf import trap_cost
from tracer.bpf.trap_cost import ASSUMED, TrapCosts, trap_costs


def test_a_probe_hit_has_a_measured_price_on_this_machine():
    costs = trap_costs()

    assert costs.is_measured
    assert costs.emulated_ns < costs.stepped_ns
    assert costs.return_ns > 0


def test_probes_measure_alike_without_links_of_many(monkeypatch):
    monkeypatch.setattr(trap_cost, "has_multi_links", lambda: False)
    trap_costs.cache_clear()

    assert trap_costs().is_measured


def test_nothing_is_left_of_the_measurement():
    before = set(Path("/proc/self/fd").iterdir())
    trap_costs.cache_clear()
    trap_costs()

    # A link goes with its last descriptor.
    assert set(Path("/proc/self/fd").iterdir()) == before
    assert "memflame-trap-cost" not in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize("costs", [TrapCosts(9000, 800, 500), TrapCosts(2, 9000, 500), TrapCosts(700, 9000, -200)])
def test_a_disturbed_measurement_is_not_believed(monkeypatch, costs):
    monkeypatch.setattr(trap_cost, "_measured", lambda: costs)
    trap_costs.cache_clear()

    assert trap_costs() == ASSUMED


@pytest.fixture(autouse=True)
def _measured_anew():
    yield
    trap_costs.cache_clear()
