"""Options that bound what a recording takes."""

from __future__ import annotations

import pytest

from tracer.options.errors import BadOption
from tracer.options.limits import budget_share, check_limits, map_bytes
from tracer.protocol import RunSpec


def test_a_tenth_of_one_core_is_the_budget_unless_told_otherwise():
    assert budget_share({}) == 0.1


@pytest.mark.parametrize("asked, share", [(25, 0.25), ("0.5", 0.005), (400, 4.0), ("none", None)])
def test_a_budget_is_a_percentage_of_one_core_or_none(asked, share):
    assert budget_share({"budget": asked}) == share


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"budget": "a lot"}, "option budget is 'a lot', it must be a percentage of one core, or none"),
        ({"budget": 0}, "option budget is 0, it must be from 0.1 to 10,000 percent of one core, or none"),
        ({"budget": "nan"}, "option budget is nan, it must be from 0.1 to 10,000 percent of one core, or none"),
        ({"max_stacks": 8}, "option max_stacks is 8, it must be from 16 to 131,072"),
        ({"max_blocks": "1000"}, "option max_blocks is '1000', it must be from 16 to 4,194,304"),
        ({"ring_pages": 100}, "option ring_pages is 100, it must be a power of two"),
        (
            {"max_stacks": 131_072, "max_blocks": 1 << 22},
            "option max_blocks is 4,194,304: all maps together would take 542 MB of memory, the limit is 512 MB",
        ),
    ],
)
def test_a_limit_that_can_not_be_is_refused(options, reason):
    with pytest.raises(BadOption) as refusal:
        check_limits("malloc", options)

    assert str(refusal.value) == reason


def test_maps_take_memory_by_their_sizes_and_the_collector():
    assert map_bytes("malloc", {}) >> 20 == 119
    assert map_bytes("malloc", {"max_blocks": 1 << 22}) - map_bytes("malloc", {}) == 288 << 20
    assert map_bytes("mmap", {"max_blocks": 1 << 22}) == map_bytes("mmap", {})


def test_a_spec_with_such_a_limit_is_refused_before_it_gets_to_an_agent():
    spec = RunSpec("r-1", "brk", 1, options={"max_stacks": 1})

    with pytest.raises(ValueError, match="option max_stacks is 1"):
        RunSpec.from_dict(spec.to_dict())
