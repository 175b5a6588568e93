"""Options of a malloc recording: bands of age, by their bounds, and which blocks count."""

from __future__ import annotations

import pytest

from tracer.options.blocks import BlockOptions, age_text, age_words, check_block_options
from tracer.options.errors import BadOption


def names(bounds: str) -> tuple[str, ...]:
    return BlockOptions.of({"age_bands": bounds}).band_names


def test_the_bands_are_under_10_s_a_minute_and_10_minutes_unless_told_otherwise():
    assert BlockOptions.of({}).band_names == ("lt10s", "lt1m", "lt10m", "older")


@pytest.mark.parametrize(
    "bounds, expected",
    [
        ("30s,5m", ("lt30s", "lt5m", "older")),
        ("1s", ("lt1s", "older")),
        ("60s, 90s,3600s", ("lt1m", "lt90s", "lt1h", "older")),
        ("24h", ("lt24h", "older")),
        ("none", ()),
    ],
)
def test_bounds_make_the_names_of_the_bands(bounds, expected):
    assert names(bounds) == expected


def test_one_age_has_one_name():
    assert [age_text(seconds) for seconds in (59, 60, 120, 3600, 5400)] == ["59s", "1m", "2m", "1h", "90m"]


def test_people_read_an_age_in_words():
    assert [age_words(seconds) for seconds in (10, 60, 3600)] == ["10\u00a0s", "1\u00a0min", "1\u00a0h"]


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"age_bands": ""}, "option age_bands is '': an age is a whole number with s, m or h behind it, such as 30s"),
        ({"age_bands": "10"}, "option age_bands is '10': an age is a whole number"),
        ({"age_bands": "-1s"}, "option age_bands is '-1s': an age is a whole number"),
        ({"age_bands": "٣s"}, "option age_bands is '٣s': an age is a whole number"),
        ({"age_bands": "1.5s"}, "option age_bands is '1.5s': an age is a whole number"),
        ({"age_bands": 10}, "option age_bands is '10': an age is a whole number"),
        ({"age_bands": "0s"}, "option age_bands is 0s: the least age is 1s"),
        ({"age_bands": "25h"}, "option age_bands is 25h: the limit of an age is 24h"),
        ({"age_bands": "1m,10s"}, "option age_bands is '1m,10s': each bound must be above the one before it"),
        ({"age_bands": "1m,60s"}, "option age_bands is '1m,60s': each bound must be above the one before it"),
        ({"older_than": "a while"}, "option older_than is 'a while': an age is a whole number"),
        ({"older_than": "1000h"}, "option older_than is 1000h: the limit of an age is 24h"),
        ({"min_size": "64"}, "option min_size is '64', it must be a number of bytes from 0 to"),
        ({"min_size": -1}, "option min_size is -1, it must be a number of bytes from 0 to"),
        ({"max_size": 1 << 63}, "option max_size is 9223372036854775808, it must be a number of bytes from 0 to"),
        ({"min_size": 65, "max_size": 64}, "option min_size is 65 bytes, it must not be above max_size, which is 64"),
        ({"age_bands": "1s,2s,3s,4s,5s,6s,7s"}, "these are 7 bounds, the limit is 6"),
    ],
)
def test_what_can_not_be_is_refused_with_its_value(options, reason):
    with pytest.raises(BadOption) as refusal:
        check_block_options("malloc", options)

    assert reason in str(refusal.value)


def test_another_collector_has_no_blocks():
    with pytest.raises(
        BadOption, match="option age_bands is '10s', but brk has no blocks: leave it out, or use malloc"
    ):
        check_block_options("brk", {"age_bands": "10s"})
    check_block_options("brk", {"max_stacks": 64})


def test_filters_are_what_leaves_blocks_out():
    assert BlockOptions.of({"age_bands": "1s", "max_stacks": 64}).filters() == {}
    asked: dict[str, int | str] = {"older_than": "60s", "min_size": 8, "max_size": 8}
    assert BlockOptions.of(asked).filters() == {"older_than": "1m", "min_size": 8, "max_size": 8}
