"""Options of a recording that bound what it takes: a share of one core, and memory for its maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracer.block_options import BadOption

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


# Maps are allocated whole when a recording starts; the bounds keep all of them together below 512 MiB.
MAP_SIZES: Mapping[str, Bounds] = {
    "max_stacks": Bounds(16_384, 16, 131_072),  # 1 kB each
    "max_blocks": Bounds(1 << 20, 16, 1 << 22),  # 96 bytes each, live ones
    "max_calls": Bounds(16_384, 16, 131_072),  # threads inside a traced call
    "ring_pages": Bounds(4096, 8, 16_384),  # of 4 kB
}
LIMIT_OPTIONS = (BUDGET, *MAP_SIZES)


def check_limits(options: Mapping[str, int | str]) -> None:
    """BadOption for a budget or a size that can't be."""
    budget_share(options)
    for name, bounds in MAP_SIZES.items():
        if name in options:
            check_size(name, options[name], bounds)


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
