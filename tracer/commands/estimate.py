"""`memflame record --estimate`: what recording a process would cost, as a table for people or JSON for machines."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator

import typer

from tracer.collectors import CollectorError
from tracer.commands.recording_view import amount
from tracer.commands.stopping import asked_to_stop
from tracer.prices import BUDGET_SHARE, LONGEST_COUNT_S, MOST_SLOWDOWN, SHORTEST_COUNT_S, Estimate, Price

_LEAST_WORDS = 24  # columns for what a method misses
_COLUMNS = ("", "of one core", "slower by", "memflame", "memory", "does not see")
_WIDTHS = (18, 13, 11, 10, 10)
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


def print_estimate(pid: int, seconds: float, *, as_json: bool) -> None:
    """Exit code 1 if the process can't be counted."""
    if not SHORTEST_COUNT_S <= seconds <= LONGEST_COUNT_S:
        limits = f"from {SHORTEST_COUNT_S:g} to {LONGEST_COUNT_S:g} s"
        raise typer.BadParameter(f"--estimate-seconds is {seconds:g} s, it must be {limits}")
    from tracer.collectors.price_tag import price_tag

    try:
        with asked_to_stop() as should_stop:
            estimate = price_tag(pid, seconds, should_stop=should_stop)
    except CollectorError as error:
        print(f"memflame record: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    print(
        json.dumps(estimate.to_dict()) if as_json else table_of(estimate, shutil.get_terminal_size((120, 40)).columns)
    )


def table_of(estimate: Estimate, width: int) -> str:
    """What was counted, a row for each way to record, and what else there is to say."""
    rows = [line for price in estimate.prices for line in _rows(price, width)]
    return "\n".join([*_counted(estimate), "", _row(_COLUMNS), *rows, "", *_advice(estimate)])


def _counted(estimate: Estimate) -> Iterator[str]:
    rates = {name: f"{rate:,.1f}" if 0 < rate < 10 else f"{rate:,.0f}" for name, rate in estimate.a_second.items()}
    yield (
        f"Counted for {estimate.seconds:.1f} s, events a second: {rates['malloc']} allocations from "
        f"{estimate.callers:,} {'place' if estimate.callers == 1 else 'places'}, {rates['free']} frees,"
    )
    yield (
        f"{rates['brk']} brk, {rates['mmap']} mmap, {rates['munmap']} munmap, "
        f"{rates['minor']} minor and {rates['major']} major page faults."
    )


def _rows(price: Price, width: int) -> Iterator[str]:
    mark = "* " if price.is_recommended else "  "
    cells = (
        mark + price.method.name, percent(price.share), slowdown(price.slowdown), percent(price.own_share),
        amount(price.map_bytes, "bytes"),
    )  # fmt: skip
    room = max(_LEAST_WORDS, width - sum(_WIDTHS) - 2)
    first, *others = textwrap.wrap(price.method.misses, room)
    yield _row((*cells, first))
    for line in others:
        yield _row(("", "", "", "", "", line))


def _row(cells: tuple[str, ...]) -> str:
    name, *numbers, words = cells
    columns = "".join(f"{cell:>{width}}" for cell, width in zip(numbers, _WIDTHS[1:], strict=True))
    return f"{name:{_WIDTHS[0]}}{columns}  {words}".rstrip()


def _advice(estimate: Estimate) -> Iterator[str]:
    if estimate.recommended is not None:
        yield f"* recommended: the most telling that takes {percent(BUDGET_SHARE)} of one core or less."
    else:
        yield f"Nothing takes {percent(BUDGET_SHARE)} of one core or less: record at a quieter time, or for seconds."
    yield from estimate.notes


def percent(share: float) -> str:
    if 0 < share < 0.001:
        return f"<{_NO_BREAK_SPACE}0.1{_NO_BREAK_SPACE}%"
    return f"{100 * share:,.1f}{_NO_BREAK_SPACE}%"


def slowdown(times: float | None) -> str:
    """Of the program's own work."""
    if times is None:
        return "–"
    return f"over ×{_NO_BREAK_SPACE}{MOST_SLOWDOWN:g}" if times >= MOST_SLOWDOWN else percent(times)
