"""brk and mmap calls, as the kernel tells them, to values."""

from __future__ import annotations

from tracer.collectors.brk import HeapEnd
from tracer.collectors.mmap import MAP_HUGETLB, MMAP, MREMAP, MREMAP_DONTUNMAP, MUNMAP, MappingLedger, mapped_bytes
from tracer.collectors.stacks import CapturedStack
from tracer.collectors.syscall_events import SystemCall

HERE, THERE = CapturedStack((1,)), CapturedStack((2,))
PAGE = 4096


class Ledger:
    """A ledger that is told calls in the order of their times."""

    def __init__(self):
        self.ledger = MappingLedger()
        self.now = 0

    def call(self, number, *arguments, result=0, stack=HERE):
        self.now += 10
        padded = (*arguments, *[0] * (6 - len(arguments)))
        self.ledger.add(SystemCall(number, padded, result, 0, self.now, self.now + 5, stack))

    def values(self):
        return dict(self.ledger.values())


def test_lengths_are_counted_in_whole_pages():
    ledger = Ledger()

    ledger.call(MMAP, 0, 1, result=0x10000)

    assert ledger.values() == {HERE: (PAGE, PAGE, 1)}


def test_a_mapping_that_is_unmapped_stays_in_what_was_mapped():
    ledger = Ledger()

    ledger.call(MMAP, 0, 5 * PAGE, result=0x10000)
    ledger.call(MUNMAP, 0x10000, 5 * PAGE, stack=THERE)

    assert ledger.values() == {HERE: (0, 5 * PAGE, 1)}


def test_a_remapping_gives_the_old_range_back_and_maps_the_new_one():
    ledger = Ledger()

    ledger.call(MMAP, 0, 2 * PAGE, result=0x10000)
    ledger.call(MREMAP, 0x10000, 2 * PAGE, 7 * PAGE, result=0x90000, stack=THERE)

    assert ledger.values() == {HERE: (0, 2 * PAGE, 1), THERE: (7 * PAGE, 7 * PAGE, 1)}


def test_a_remapping_in_place_is_the_new_callers():
    ledger = Ledger()

    ledger.call(MMAP, 0, 2 * PAGE, result=0x10000)
    ledger.call(MREMAP, 0x10000, 2 * PAGE, 3 * PAGE, result=0x10000, stack=THERE)

    assert ledger.values() == {HERE: (0, 2 * PAGE, 1), THERE: (3 * PAGE, 3 * PAGE, 1)}


def test_a_remapping_that_leaves_the_old_range_mapped_takes_nothing_away():
    ledger = Ledger()

    ledger.call(MMAP, 0, 2 * PAGE, result=0x10000)
    ledger.call(MREMAP, 0x10000, 2 * PAGE, 2 * PAGE, MREMAP_DONTUNMAP, result=0x90000, stack=THERE)

    assert ledger.values() == {HERE: (2 * PAGE, 2 * PAGE, 1), THERE: (2 * PAGE, 2 * PAGE, 1)}


def test_huge_pages_are_counted_in_their_size():
    two_mb, one_gb = 21 << 26, 30 << 26

    assert mapped_bytes(PAGE, 0) == PAGE
    assert mapped_bytes(PAGE, MAP_HUGETLB) == 2 << 20
    assert mapped_bytes((2 << 20) + 1, MAP_HUGETLB | two_mb) == 4 << 20
    assert mapped_bytes(PAGE, MAP_HUGETLB | one_gb) == 1 << 30


def test_the_first_call_counts_from_the_end_that_the_kernel_knew():
    heap = HeapEnd()

    assert heap.moved(before=1000, after=1500) == 500


def test_later_calls_count_from_the_call_before():
    """Two threads that ask at once may both have seen the first end: its bytes must not count twice."""
    heap = HeapEnd()

    moved = [
        heap.moved(before=1000, after=1500),
        heap.moved(before=1000, after=1800),
        heap.moved(before=1800, after=1200),
    ]

    assert moved == [500, 300, -600]
