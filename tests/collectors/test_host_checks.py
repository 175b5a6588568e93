"""What the doctor reads of a kernel's settings, from texts as other kernels write them."""

from __future__ import annotations

import pytest

from tracer.collectors.ability import abilities, abilities_by_perf
from tracer.collectors.check import failure, warning
from tracer.collectors.host_checks import (
    capabilities_of,
    host_checks,
    lockdown_of,
    needs_by_perf,
    needs_of,
    stack_depth_of,
)
from tracer.options.pull import PULLED
from tracer.protocol import COLLECTORS, TRACED

FREE = ("page_faults", *PULLED)  # collectors that need no tracefs

STATUS = "Name:\tmemflame\nCapInh:\t0000000000000000\nCapPrm:\t{0}\nCapEff:\t{0}\nCapBnd:\t000001ffffffffff\n"


def test_root_with_all_capabilities_may_trace():
    assert capabilities_of(STATUS.format("000001ffffffffff")).state == "ok"


def test_root_of_a_plain_container_is_told_which_capabilities_are_missing():
    check = capabilities_of(STATUS.format("00000000a80425fb"))

    assert (check.state, check.mend) == (
        "failure",
        "in a container: docker run --cap-add=SYS_PTRACE --cap-add=SYS_ADMIN --cap-add=PERFMON --cap-add=BPF",
    )


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("", "ok"),
        ("[none] integrity confidentiality\n", "ok"),
        ("none [integrity] confidentiality\n", "ok"),
        ("none integrity [confidentiality]\n", "failure"),
    ],
)
def test_only_a_lockdown_for_confidentiality_forbids_reading(text, state):
    assert lockdown_of(text).state == state


def test_a_kernel_that_walks_few_frames_is_a_warning_with_its_command():
    check = stack_depth_of(64)

    assert (check.state, check.mend) == ("warning", "sysctl -w kernel.perf_event_max_stack=127")
    assert stack_depth_of(127).state == "ok"


def test_names_are_used_once_and_each_collector_needs_checks_that_exist():
    names = [check.name for check in host_checks()]

    assert len(names) == len(set(names))
    assert [len(needs_of(collector)) for collector in COLLECTORS] == [10, 12, 11, 11, 1, 1, 1]


def test_a_collector_is_unable_for_the_reason_of_its_first_failure(monkeypatch):
    broken = [failure("tracefs", "no tracefs", "mount it")]
    monkeypatch.setattr("tracer.collectors.ability.needs_of", lambda name: broken if name in ("brk", "mmap") else [])

    assert abilities() == {"malloc": "", "brk": "no tracefs", "mmap": "no tracefs", **dict.fromkeys(FREE, "")}


def test_by_perf_a_collector_needs_neither_bcc_nor_type_information():
    needs = {check.name for collector in TRACED for check in needs_by_perf(collector)}

    assert "perf" in needs
    assert not needs & {"bcc", "loading", "type information", "lockdown"}


def test_a_missing_perf_stops_only_who_asks_for_it(monkeypatch):
    missing = [warning("perf", "perf is missing", "apt-get install linux-perf")]
    monkeypatch.setattr("tracer.collectors.ability.needs_by_perf", lambda name: missing)

    found = abilities_by_perf()
    assert {name: found[name] for name in TRACED} == dict.fromkeys(TRACED, "perf is missing")


def test_perf_has_no_part_in_what_a_process_counts_itself():
    found = abilities_by_perf()

    assert {found[name] for name in PULLED} == {"The process makes this profile itself, perf has no part in it."}
