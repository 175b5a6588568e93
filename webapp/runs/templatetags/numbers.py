"""Numbers and times as people read them, for templates."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tracer.prices import MOST_SLOWDOWN
from tracer.profile.amounts import NBSP, NOTHING, change, grouped, percent, short_count, size, value

register = template.Library()
for words in (change, grouped, percent, short_count, size, value):
    register.filter(words)

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


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
