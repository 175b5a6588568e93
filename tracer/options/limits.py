"""Options of a recording that bound what it takes: a share of one core, and memory for its maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracer.options.errors import BadOption

BUDGET = "budget"
DEFAULT_BUDGET_PERCENT = 10.0  # of one core
LEAST_BUDGET_PERCENT, MOST_BUDGET_PERCENT = 0.1, 10_000.0
NO_BUDGET = "none"
BUDGET_OVER_S = 5.0  # the average over so many seconds counts: a burst must not end a recording


@dataclass(frozen=True, slots=True)
class Bounds:
    default: int
    lowest: int
    highest: int


MAP_SIZES: Mapping[str, Bounds] = {
    "max_stacks": Bounds(16_384, 16, 131_072),
    "max_blocks": Bounds(1 << 20, 16, 1 << 22),  # live ones
    "max_calls": Bounds(16_384, 16, 131_072),  # threads inside a traced call
    "ring_pages": Bounds(4096, 8, 16_384),
}
MOST_MAP_BYTES = 512 << 20  # all maps of a recording together: they are allocated whole when it starts

# What the kernel accounts for an entry, in all maps that have one for it.
_BYTES_EACH: Mapping[str, Mapping[str, int]] = {
    "malloc": {"max_stacks": 1230, "max_blocks": 96, "max_calls": 300},
    "brk": {"max_calls": 150, "ring_pages": 4110},
    "mmap": {"max_calls": 150, "ring_pages": 4110},
    "page_faults": {"max_stacks": 1600, "ring_pages": 4110},
}
LIMIT_OPTIONS = (BUDGET, *MAP_SIZES)


def check_limits(collector: str, options: Mapping[str, int | str]) -> None:
    """BadOption for a budget or a size that can't be, and for maps that are too large together."""
    budget_share(options)
    for name, bounds in MAP_SIZES.items():
        if name in options:
            check_size(name, options[name], bounds)
    if (taken := map_bytes(collector, options)) > MOST_MAP_BYTES:
        each = _BYTES_EACH[collector]
        largest = max(each, key=lambda name: each[name] * _size(name, options))
        raise BadOption(
            largest,
            f"{_size(largest, options):,}: all maps together would take {taken / 2**20:.0f} MB of memory, "
            f"the limit is {MOST_MAP_BYTES >> 20} MB",
        )


def map_bytes(collector: str, options: Mapping[str, int | str]) -> int:
    """Memory of the host that the maps of a recording take while it lasts."""
    return sum(each * _size(name, options) for name, each in _BYTES_EACH.get(collector, {}).items())


def _size(name: str, options: Mapping[str, int | str]) -> int:
    return int(options.get(name, MAP_SIZES[name].default))


def budget_share(options: Mapping[str, int | str]) -> float | None:
    """How much of one core a recording may take, as a share of 1; None: as much as it needs."""
    asked = options.get(BUDGET, DEFAULT_BUDGET_PERCENT)
    if asked == NO_BUDGET:
        return None
    try:
        percent = float(asked)
    except (TypeError, ValueError):
        raise BadOption(BUDGET, f"{asked!r}, it must be a percentage of one core, or {NO_BUDGET}") from None
    if not LEAST_BUDGET_PERCENT <= percent <= MOST_BUDGET_PERCENT:
        limits = f"from {LEAST_BUDGET_PERCENT:g} to {MOST_BUDGET_PERCENT:,.0f}"
        raise BadOption(BUDGET, f"{asked}, it must be {limits} percent of one core, or {NO_BUDGET}")
    return percent / 100


def check_size(name: str, value: object, bounds: Bounds) -> int:
    """The value, if it is a number within the bounds."""
    if not isinstance(value, int) or not bounds.lowest <= value <= bounds.highest:
        raise BadOption(name, f"{value!r}, it must be from {bounds.lowest:,} to {bounds.highest:,}")
    if name == "ring_pages" and value & (value - 1):
        raise BadOption(name, f"{value}, it must be a power of two")
    return value
