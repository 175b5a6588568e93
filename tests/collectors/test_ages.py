"""Live blocks to what is outstanding of each stack, by age."""

from __future__ import annotations

from tracer.collectors.ages import BLOCK, Live, live_by_stack
from tracer.options.blocks import BlockOptions

NOW_S = 1000
ONE, OTHER = 7, 8  # stacks


def blocks(*rows: tuple[int, int, float]) -> bytes:
    """Of (bytes, stack, age in seconds)."""
    return b"".join(BLOCK.pack(count, stack, int((NOW_S - age_s) * 1e9), 1) for count, stack, age_s in rows)


def live(raw: bytes, **options: int | str) -> dict[int, Live]:
    return live_by_stack(raw, BlockOptions.of(options), NOW_S * 10**9)


def test_each_block_falls_into_the_youngest_band_that_it_fits():
    rows = [(1, ONE, 0), (2, ONE, 9.5), (4, ONE, 59), (8, ONE, 599), (16, ONE, 600.5)]

    assert live(blocks(*rows)) == {ONE: Live(31, 5, (3, 4, 8, 16))}


def test_a_block_exactly_as_old_as_a_bound_is_not_under_it():
    assert live(blocks((1, ONE, 10)))[ONE].bytes_by_band == (0, 1, 0, 0)


def test_a_block_born_while_the_map_is_read_is_the_youngest():
    assert live(blocks((1, ONE, -0.001)))[ONE].bytes_by_band == (1, 0, 0, 0)


def test_stacks_are_kept_apart():
    raw = blocks((1, ONE, 0), (2, OTHER, 20), (0, OTHER, 20))

    assert live(raw) == {ONE: Live(1, 1, (1, 0, 0, 0)), OTHER: Live(2, 2, (0, 2, 0, 0))}


def test_without_live_blocks_there_is_no_stack():
    assert live(b"") == {}


def test_blocks_that_are_not_old_enough_are_not_outstanding():
    raw = blocks((1, ONE, 29.9), (2, ONE, 30), (4, ONE, 61), (8, OTHER, 5), (16, OTHER, -0.001))

    assert live(raw, older_than="30s") == {ONE: Live(6, 2, (0, 2, 4, 0))}
    assert live(raw, older_than="30s", age_bands="none") == {ONE: Live(6, 2)}
