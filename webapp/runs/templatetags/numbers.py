"""Numbers and times as people read them; frontend/js/format.js does the same, tests/view/numbers.json holds both."""

from __future__ import annotations

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tracer.prices import MOST_SLOWDOWN

register = template.Library()

NBSP = "\u00a0"
MINUS = "\u2212"
NOTHING = "\u2013"
KILO = 1024
BIGGER_UNITS = ("kB", "MB", "GB")
COUNTED = ("objects", "calls", "pages", "faults", "stacks", "events", "snapshots", "runs", "lines", "frames")
_ONE, _TENTH, _HUNDREDTH = Decimal(1), Decimal("0.1"), Decimal("0.01")
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


@register.filter
def size(count: float | None) -> str:
    """Bytes: `512 B`, `40.0 kB`, `898.0 MB`."""
    if count is None:
        return NOTHING
    return _sign(count) + _size(abs(count))


@register.filter
def change(count: float | None, unit: str = "bytes") -> str:
    """A difference with its sign: `+412.0 MB`, `−38.2 MB`, `0 B`."""
    if count is None:
        return NOTHING
    return ("+" if count > 0 else "") + value(count, unit)


@register.filter
def value(count: float | None, unit: str = "bytes") -> str:
    """A number with its unit: bytes as a size, everything else grouped: `566,204 pages`, `1 object`."""
    if count is None:
        return NOTHING
    if unit == "bytes":
        return size(count)
    singular = unit[:-1] if unit in COUNTED and abs(count) == 1 else unit
    return f"{grouped(count)}{NBSP}{singular}" if unit else grouped(count)


@register.filter
def grouped(count: float | None) -> str:
    """A count with commas; a fraction keeps one decimal."""
    if count is None:
        return NOTHING
    return _sign(count) + (f"{int(abs(count)):,}" if count == int(count) else f"{_tenths(abs(count)):,}")


@register.filter
def short_count(count: float) -> str:
    """A count without its unit: `12,940`, and from a million on `2.31 M`."""
    for least, divisor, letter in ((999_500_000, 10**9, "G"), (999_950, 10**6, "M")):
        if abs(count) >= least:
            return f"{_sign(count)}{_rounded(abs(count) / divisor, _HUNDREDTH)}{NBSP}{letter}"
    return grouped(count)


def plural(count: int, one: str, many: str) -> str:
    """`1 path is`, `3 paths are`."""
    return f"{short_count(count)}{NBSP}{one if count == 1 else many}"


@register.filter
def percent(share: float) -> str:
    """A share of 1: `4.2 %`; what is there but rounds to nothing says so."""
    size = abs(share) * 100
    if 0 < size < 0.05:
        return f"{_sign(share)}<{NBSP}0.1{NBSP}%"
    return f"{_sign(share)}{_tenths(size):,}{NBSP}%"


@register.filter
def slower(times: float | None) -> str:
    """By how much work gets longer; None: there was none to compare with."""
    if times is None:
        return NOTHING
    return f"over ×{NBSP}{MOST_SLOWDOWN:g}" if times >= MOST_SLOWDOWN else percent(times)


@register.filter
def rate(a_second: float) -> str:
    """Events a second: whole ones, but what is rare keeps a decimal."""
    return grouped(round(a_second, 1) if a_second < 10 else round(a_second))


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


@register.filter
def duration(seconds: float | None) -> str:
    """`m:ss`, and `h:mm:ss` from an hour on."""
    if seconds is None:
        return NOTHING
    minutes, rest = divmod(int(seconds), _MINUTE)
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@register.filter
def span(seconds: float) -> str:
    """A length in its own unit where it is whole there: `10 s`, `1 min`, `1 h`; else `m:ss`."""
    for unit, name in ((_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= unit and seconds % unit == 0:
            return f"{seconds / unit:g}{NBSP}{name}"
    return f"{seconds:g}{NBSP}s" if seconds < _MINUTE else duration(seconds)


def age(seconds: float) -> str:
    """How long ago: `4 s ago`, `3 min ago`, `20 h ago`, `3 days ago`."""
    whole = max(int(seconds), 0)
    if whole < _MINUTE:
        return f"{whole}{NBSP}s{NBSP}ago"
    if whole < _HOUR:
        return f"{whole // _MINUTE}{NBSP}min{NBSP}ago"
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}{NBSP}h{NBSP}ago"
    return f"{whole // _DAY:,}{NBSP}days{NBSP}ago"


@register.filter
def ago(moment: datetime | None) -> str | SafeString:
    """Relative time as `<time>`, exact in its title."""
    if moment is None:
        return "never"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(timespec="seconds"),
        exact(moment),
        age((timezone.now() - moment).total_seconds()),
    )


@register.filter
def exact(moment: datetime | None) -> str:
    """`2026-11-27 10:24:06 UTC`."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else NOTHING


@register.filter
def started(text: Any) -> str:
    """ISO 8601 of an agent: the time of day for today, the date with the time before; other text as it is."""
    try:
        moment = datetime.fromisoformat(str(text)).astimezone(timezone.get_default_timezone())
    except ValueError:
        return str(text)
    is_today = moment.date() == timezone.now().date()
    return f"{moment:%H:%M}" if is_today else f"{moment.day}{NBSP}{moment:%b}{NBSP}{moment:%H:%M}"


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
