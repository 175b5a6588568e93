"""Estimates as agents send them: read, or refused with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from tracer.prices import MAX_NOTE_CHARACTERS, MAX_NOTES, METHODS, RATES, Estimate

PRICE = {
    "collector": "brk", "mode": "", "share": 0.5, "slowdown": None, "own_share": 0, "map_bytes": 5,
    "is_recommended": True,
}  # fmt: skip
SENT: dict[str, Any] = {
    "seconds": 3,
    "a_second": dict.fromkeys(RATES, 1.5),
    "callers": 7,
    "prices": [PRICE],
    "notes": ["a"],
}


def test_what_an_agent_sent_is_read() -> None:
    read = Estimate.from_dict(SENT)

    assert (read.seconds, read.callers, read.notes) == (3.0, 7, ("a",))
    assert read.prices[0].method.misses and read.prices[0].is_recommended


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"seconds": "3"}, "seconds of the estimate is '3', it must be a number, 0 or more"),
        ({"seconds": float("nan")}, "seconds of the estimate is nan"),
        ({"callers": -1}, "callers of the estimate is -1"),
        ({"a_second": {}}, "the estimate can't be read: KeyError 'malloc'"),
        ({"prices": [PRICE | {"mode": "wild"}]}, "the estimate prices 'brk' in mode 'wild', which is no way to record"),
        ({"prices": [PRICE | {"share": float("inf")}]}, "share of the estimate is inf"),
        ({"prices": [[]]}, "the estimate can't be read: TypeError"),
        ({"prices": None}, "the estimate can't be read: TypeError"),
    ],
)
def test_what_cannot_be_an_estimate_is_refused_with_the_reason(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=".") as refusal:
        Estimate.from_dict(SENT | change)

    assert str(refusal.value).startswith(reason)


def test_an_estimate_is_as_long_as_it_may_be_and_no_longer() -> None:
    read = Estimate.from_dict(SENT | {"prices": [PRICE] * 99, "notes": ["x" * 9999] * 99})

    assert len(read.prices) == len(METHODS)
    assert (len(read.notes), len(read.notes[0])) == (MAX_NOTES, MAX_NOTE_CHARACTERS)
