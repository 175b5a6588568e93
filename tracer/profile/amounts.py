"""Amounts to the words of people: bytes in powers of 1024, counts with commas, shares as percentages.

frontend/js/format.js does the same; tests/view/numbers.json holds both.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

NBSP = "\u00a0"
MINUS = "\u2212"
NOTHING = "\u2013"
KILO = 1024
BIGGER_UNITS = ("kB", "MB", "GB")
COUNTED = ("objects", "calls", "pages", "faults", "stacks", "events", "snapshots", "runs", "lines", "frames")
_ONE, _TENTH, _HUNDREDTH = Decimal(1), Decimal("0.1"), Decimal("0.01")


def size(count: float | None) -> str:
    """Bytes: `512 B`, `40.0 kB`, `898.0 MB`."""
    if count is None:
        return NOTHING
    return _sign(count) + _size(abs(count))


def change(count: float | None, unit: str = "bytes") -> str:
    """A difference with its sign: `+412.0 MB`, `−38.2 MB`, `0 B`."""
    if count is None:
        return NOTHING
    return ("+" if count > 0 else "") + value(count, unit)


def value(count: float | None, unit: str = "bytes") -> str:
    """A number with its unit: bytes as a size, everything else grouped: `566,204 pages`, `1 object`."""
    if count is None:
        return NOTHING
    if unit == "bytes":
        return size(count)
    singular = unit[:-1] if unit in COUNTED and abs(count) == 1 else unit
    return f"{grouped(count)}{NBSP}{singular}" if unit else grouped(count)


def grouped(count: float | None) -> str:
    """A count with commas; a fraction keeps one decimal."""
    if count is None:
        return NOTHING
    return _sign(count) + (f"{int(abs(count)):,}" if count == int(count) else f"{_tenths(abs(count)):,}")


def short_count(count: float) -> str:
    """A count without its unit: `12,940`, and from a million on `2.31 M`."""
    for least, divisor, letter in ((999_500_000, 10**9, "G"), (999_950, 10**6, "M")):
        if abs(count) >= least:
            return f"{_sign(count)}{_rounded(abs(count) / divisor, _HUNDREDTH)}{NBSP}{letter}"
    return grouped(count)


def plural(count: int, one: str, many: str) -> str:
    """`1 path is`, `3 paths are`."""
    return f"{short_count(count)}{NBSP}{one if count == 1 else many}"


def percent(share: float) -> str:
    """A share of 1: `4.2 %`; what is there but rounds to nothing says so."""
    size = abs(share) * 100
    if 0 < size < 0.05:
        return f"{_sign(share)}<{NBSP}0.1{NBSP}%"
    return f"{_sign(share)}{_tenths(size):,}{NBSP}%"


def whole_percent(share: float) -> str:
    size = abs(share) * 100
    if 0 < size < 0.5:
        return f"{_sign(share)}<{NBSP}1{NBSP}%"
    return f"{_sign(share)}{_rounded(size, _ONE):,}{NBSP}%"


def of_own(before: float, after: float) -> str:
    """How a value changed against its own past: `new`, `gone`, `+806 %`, and more than ten times as `× 12.1`."""
    if before == after:
        return NOTHING if before == 0 else f"0{NBSP}%"
    if before == 0 or after == 0:
        return "new" if before == 0 else "gone"
    if after / before > 10:
        return f"×{NBSP}{_tenths(after / before):,}"
    share = (after - before) / abs(before)
    return ("+" if share > 0 else "") + whole_percent(share)


def _sign(count: float) -> str:
    return MINUS if count < 0 else ""


def _size(count: float) -> str:
    if int(count + 0.5) < KILO:
        return f"{int(count + 0.5):,}{NBSP}B"
    scaled = count
    for unit in BIGGER_UNITS:
        scaled /= KILO
        # 1,023.95 kB would be shown as 1,024.0 kB: it is 1.0 MB.
        if _tenths(scaled) < KILO or unit == BIGGER_UNITS[-1]:
            break
    return f"{_tenths(scaled):,}{NBSP}{unit}"


def _tenths(count: float) -> Decimal:
    return _rounded(count, _TENTH)


def _rounded(count: float, step: Decimal) -> Decimal:
    """Halves up as JavaScript's toFixed rounds them; Python's own format would round 1.25 to 1.2."""
    return Decimal(count).quantize(step, ROUND_HALF_UP)
