"""Allocations within bounds of size only: exact counts, also of blocks that realloc moves across a bound."""

from __future__ import annotations

import pytest

# By bounds and function of tests/programs/sizes.c: outstanding bytes and objects, allocated bytes and objects.
TRUTH = {
    "from 100 to 1,000": {
        "keep_sizes": (2200, 4, 2200, 4),
        "free_sizes": (0, 0, 303, 3),
        "grow": (1500, 3, 4500, 8),
        "shrink": (600, 2, 2000, 9),
        "fail_to_grow": (2800, 4, 2800, 4),
        "keep_page": (0, 0, 0, 0),
    },
    "from 100": {
        "keep_sizes": (103_201, 6, 103_201, 6),
        "free_sizes": (0, 0, 303, 3),
        "grow": (11_500, 8, 14_500, 13),
        "shrink": (600, 2, 8000, 11),
        "fail_to_grow": (2800, 4, 2800, 4),
        "keep_page": (0, 0, 0, 0),
    },
    "up to 100": {
        "keep_sizes": (200, 4, 200, 4),
        "free_sizes": (0, 0, 297, 3),
        "grow": (0, 0, 30, 3),
        "shrink": (140, 7, 140, 7),
        "fail_to_grow": (0, 0, 0, 0),
        "keep_page": (150, 3, 150, 3),
    },
}
OPTIONS = {
    "from 100 to 1,000": {"min_size": 100, "max_size": 1000},
    "from 100": {"min_size": 100},
    "up to 100": {"max_size": 100},
}


@pytest.fixture(scope="module", params=OPTIONS)
def bounds(request):
    return request.param


@pytest.fixture(scope="module")
def recorded(bounds, launch, record):
    return record(launch("sizes"), "malloc", **OPTIONS[bounds])


@pytest.mark.parametrize("function", TRUTH["from 100"])
def test_a_function_has_exactly_what_it_keeps_within_the_bounds(recorded, bounds, function):
    assert recorded.values(function) == TRUTH[bounds][function]


def test_the_capture_says_which_sizes_were_recorded(recorded, bounds):
    assert recorded.capture["filters"] == OPTIONS[bounds]
    assert recorded.capture["lost"] == {}
