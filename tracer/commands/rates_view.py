"""Rates to lines of a table, or to JSON objects, one a line."""

from __future__ import annotations

import json
from typing import Protocol

from tracer.collectors.rates import COLUMNS, Rates

_TIME_WIDTH, _RATE_WIDTH, _PID_WIDTH = 12, 11, 9
_EXACT_BELOW = 10  # a rate of 0.3 a second is not 0


class View(Protocol):
    header: str

    def line(self, elapsed_s: float, seconds: float, rates: Rates) -> str: ...


class Table:
    """As wide as a terminal of 90 columns, or with processes about 120."""

    def __init__(self, *, names_processes: bool) -> None:
        self._names_processes = names_processes
        columns = "".join(f"{column:>{_RATE_WIDTH}}" for column in COLUMNS)
        process = f"{'pid':>{_PID_WIDTH}}  command" if names_processes else ""
        self.header = f"{'time':>{_TIME_WIDTH}}{columns}{process}\n"

    def line(self, elapsed_s: float, seconds: float, rates: Rates) -> str:
        columns = "".join(f"{_rate(rates.a_second[column]):>{_RATE_WIDTH}}" for column in COLUMNS)
        return f"{elapsed_s:{_TIME_WIDTH}.3f}{columns}{self._process(rates)}"

    def _process(self, rates: Rates) -> str:
        if not self._names_processes:
            return ""
        pid, command = ("all", "") if rates.pid is None else (str(rates.pid), rates.command)
        return f"{pid:>{_PID_WIDTH}}  {_printable(command)}".rstrip()


class Lines:
    header = ""

    def line(self, elapsed_s: float, seconds: float, rates: Rates) -> str:
        process = {} if rates.pid is None else {"pid": rates.pid, "command": rates.command}
        a_second = {name: None if rate is None else round(rate, 3) for name, rate in rates.a_second.items()}
        return json.dumps({"time_s": round(elapsed_s, 3), "seconds": round(seconds, 6), **process, **a_second})


def _rate(rate: float | None) -> str:
    if rate is None:
        return "-"
    return f"{rate:.1f}" if 0 < round(rate, 1) < _EXACT_BELOW else f"{rate:,.0f}"


def _printable(command: str) -> str:
    """A process may call itself anything, a terminal's control characters too."""
    return "".join(c if c.isprintable() else "?" for c in command)
