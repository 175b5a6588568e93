"""What recording a process would cost, as an agent tells it and a page shows it: one price for each way to record.

{"seconds": 3.0, "a_second": {"malloc": 8412.0, "free": 8396.0, …}, "callers": 1120, "notes": [],
 "prices": [{"collector": "malloc", "mode": "exact", "share": 0.033, "slowdown": 0.051, "own_share": 0.0,
             "map_bytes": 125600000, "is_recommended": true}, …]}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tracer.options.limits import DEFAULT_BUDGET_PERCENT
from tracer.options.modes import CALLS, EXACT, SAMPLED
from tracer.protocol import COLLECTORS

RATES = ("malloc", "free", "brk", "mmap", "munmap", "minor", "major")
BUDGET_SHARE = DEFAULT_BUDGET_PERCENT / 100  # of one core; a recording that takes more is ended by the brake
SHORTEST_COUNT_S, LONGEST_COUNT_S = 0.5, 60.0
MOST_SLOWDOWN = 10.0  # above it only the order of magnitude is known
MAX_NOTES = 20
MAX_NOTE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Method:
    """A way to record: a collector, and the mode if it has several."""

    collector: str
    mode: str
    misses: str

    @property
    def name(self) -> str:
        return f"{self.collector}, {self.mode}" if self.mode else self.collector


METHODS: tuple[Method, ...] = (
    Method("malloc", EXACT, COLLECTORS["malloc"].misses),
    Method(
        "malloc",
        SAMPLED,
        "Exact bytes of a path: they are estimated from one block in 512 kB, and paths below some 2 MB may be missing.",
    ),
    Method("malloc", CALLS, "What is freed again: only who asks for memory, how often, and for how much."),
    *(Method(name, "", COLLECTORS[name].misses) for name in ("mmap", "brk", "page_faults")),
)


@dataclass(frozen=True, slots=True)
class Price:
    """Shares are of one core. `slowdown` is how much more processor time the program's work takes: 0.5 is half as much
    again, MOST_SLOWDOWN that or more; None if it did no work while it was counted."""

    collector: str
    mode: str
    share: float
    slowdown: float | None
    own_share: float  # what memflame itself takes beside it
    map_bytes: int  # locked memory
    is_recommended: bool = False

    @property
    def method(self) -> Method:
        return next(known for known in METHODS if (known.collector, known.mode) == (self.collector, self.mode))


@dataclass(frozen=True, slots=True)
class Estimate:
    seconds: float
    a_second: Mapping[str, float]  # by RATES
    callers: int  # different places that allocate
    prices: tuple[Price, ...]
    notes: tuple[str, ...] = ()

    @property
    def recommended(self) -> Price | None:
        return next((price for price in self.prices if price.is_recommended), None)

    @property
    def faults_a_second(self) -> float:
        return self.a_second["minor"] + self.a_second["major"]

    def to_dict(self) -> dict[str, Any]:
        return {
            **asdict(self), "a_second": dict(self.a_second), "prices": [asdict(price) for price in self.prices],
            "notes": list(self.notes),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Estimate:
        """Read what an agent sent; ValueError names what is wrong with it."""
        try:
            notes = [str(note)[:MAX_NOTE_CHARACTERS].replace("\0", " ") for note in raw.get("notes", [])][:MAX_NOTES]
            return cls(
                _number("seconds", raw["seconds"]),
                {name: _number(name, raw["a_second"][name]) for name in RATES},
                int(_number("callers", raw["callers"])),
                tuple(_price(price) for price in raw["prices"][: len(METHODS)]),
                tuple(notes),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"the estimate can't be read: {type(error).__name__} {error}") from None


def _price(raw: Mapping[str, Any]) -> Price:
    collector, mode = str(raw["collector"]), str(raw["mode"])
    if (collector, mode) not in [(known.collector, known.mode) for known in METHODS]:
        raise ValueError(f"the estimate prices {collector!r} in mode {mode!r}, which is no way to record")
    return Price(
        collector,
        mode,
        _number("share", raw["share"]),
        None if raw["slowdown"] is None else _number("slowdown", raw["slowdown"]),
        _number("own_share", raw["own_share"]),
        int(_number("map_bytes", raw["map_bytes"])),
        bool(raw["is_recommended"]),
    )


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{name} of the estimate is {value!r}, it must be a number, 0 or more")
    return float(value)
