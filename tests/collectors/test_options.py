"""Sizes that a run spec may ask for."""

from __future__ import annotations

import pytest

from tracer.collectors import CollectorError, start
from tracer.collectors.options import option
from tracer.protocol import RunSpec


def spec(**options: int | str) -> RunSpec:
    return RunSpec("r-test", "malloc", 1, options=options)


def test_a_size_that_is_not_asked_for_is_the_default():
    assert option(spec(), "max_stacks") == 16_384


def test_a_size_that_is_asked_for_is_taken():
    assert option(spec(max_stacks=64), "max_stacks") == 64


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"max_stacks": 8}, "option max_stacks is 8, it must be from 16 to 131,072"),
        ({"max_blocks": 1 << 30}, "option max_blocks is 1073741824, it must be from 16 to 4,194,304"),
        ({"ring_pages": 100}, "option ring_pages is 100, it must be a power of two"),
        ({"max_stacks": "many"}, "option max_stacks is 'many'"),
        ({"unwind": "lbr"}, "option unwind is 'lbr', there is auto, fp, dwarf"),
        ({"depth": 5}, "there is no option 'depth'"),
    ],
)
def test_what_can_not_be_is_refused_before_anything_is_attached(options, reason):
    with pytest.raises(CollectorError, match=reason):
        start(spec(**options))


def test_an_unknown_collector_is_refused_with_those_that_there_are():
    with pytest.raises(CollectorError, match="unknown collector 'heap', there is malloc, brk, mmap, page_faults"):
        start(RunSpec("r-test", "heap", 1))
