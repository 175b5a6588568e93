"""Outstanding bytes by age: exact on a program that allocates twice, and conserved while a program allocates."""

from __future__ import annotations

import pytest

BOUND_S = 3  # also how long the snapshot may take to come after the young blocks


@pytest.fixture(scope="module")
def record_twice(launch, recording_of, by_function):
    """10 blocks of 1,000 bytes, and 5 of 64 that are younger by BOUND_S, by the options that were asked for."""

    def recorded(**options):
        workload = launch("ages")
        with recording_of(workload, "malloc", **options) as running:
            workload.work()
            running.wait(BOUND_S + 0.1)
            workload.work()
            return by_function(running.snapshot())

    return recorded


@pytest.fixture(scope="module")
def in_two_bands(record_twice):
    return record_twice(age_bands=f"{BOUND_S}s,1h")


def test_what_is_outstanding_is_split_by_its_age(in_two_bands):
    assert in_two_bands.ages("keep_young") == {"lt3s": 5 * 64}
    assert in_two_bands.ages("keep_old") == {"lt1h": 10 * 1000}


def test_ages_change_nothing_in_the_other_numbers(in_two_bands):
    assert in_two_bands.values("keep_old") == (10_000, 10, 10_000, 10)
    assert in_two_bands.values("keep_young") == (320, 5, 320, 5)


def test_the_value_types_are_those_of_the_bounds(in_two_bands):
    names = [known.name for known in in_two_bands.profile.value_types]

    assert names[4:] == ["outstanding_bytes.lt3s", "outstanding_bytes.lt1h", "outstanding_bytes.older"]


def test_only_old_blocks_are_outstanding_when_that_is_asked_for(record_twice):
    recorded = record_twice(older_than=f"{BOUND_S}s")

    assert recorded.values("keep_old") == (10_000, 10, 10_000, 10)
    assert recorded.values("keep_young") == (0, 0, 320, 5)
    assert recorded.ages("keep_young") == {}
    assert recorded.capture["filters"] == {"older_than": "3s"}


def test_bands_add_up_to_what_is_outstanding_of_every_stack_while_the_program_allocates(launch, recording_of):
    workload = launch("exchange")
    snapshots = []

    with recording_of(workload, "malloc", age_bands="1s,1h") as running:
        workload.begin()
        while not workload.is_done():
            snapshots.append(running.snapshot())
        workload.await_done()
        snapshots.append(running.snapshot())

    assert len(snapshots) > 1  # the last one was taken when all was done
    for profile in snapshots:
        for _, (held, objects, allocated_bytes, allocated, *bands) in profile.rows():
            assert sum(bands) == held <= allocated_bytes
            assert objects <= allocated
