"""Counts of some seconds to rates."""

from __future__ import annotations

from tracer.collectors.counting import Counts
from tracer.collectors.counting_probes import FunctionCalls
from tracer.collectors.host_counting import ProcessEvents
from tracer.collectors.rates import COLUMNS, host_rates, rates_of

BUSY = ProcessEvents(11, "busy", (0, 0, 2, 4, 6, 80, 10))
IDLE = ProcessEvents(12, "idle", (0, 0, 0, 0, 0, 2, 0))


def test_rates_are_events_by_seconds():
    functions = (
        FunctionCalls("libc.so.6", "malloc", "allocates", "emulated", calls=60, bytes=6000),
        FunctionCalls("libc.so.6", "calloc", "allocates", "emulated", calls=4, bytes=400),
        FunctionCalls("libstdc++.so.6", "_Znwm", "wraps", "emulated", calls=50, bytes=5000),
        FunctionCalls("libc.so.6", "free", "frees", "single-step", calls=32),
    )
    counts = Counts(2.0, 0.5, functions, 7, brk_calls=2, mmap_calls=4, munmap_calls=1, minor_faults=20, major_faults=3)

    assert list(rates_of(counts).a_second.items()) == [
        ("malloc", 32), ("free", 16), ("brk", 1), ("mmap", 2), ("munmap", 0.5), ("minor", 10), ("major", 1.5),
    ]  # fmt: skip


def test_all_processes_come_first_and_then_the_busiest():
    rates = host_rates([IDLE, BUSY], 2.0, top=1, counts_allocators=True)

    assert [(known.pid, known.command, known.total) for known in rates] == [(None, "", 52), (11, "busy", 51)]


def test_allocator_calls_that_were_not_counted_have_no_rate():
    (everything,) = host_rates([BUSY], 1.0, top=0, counts_allocators=False)

    assert (everything.a_second["malloc"], everything.a_second["free"], everything.a_second["brk"]) == (None, None, 2)


def test_a_moment_without_any_event_has_rates_of_zero():
    (everything,) = host_rates([], 1.0, top=5, counts_allocators=True)

    assert everything.a_second == dict.fromkeys(COLUMNS, 0)
