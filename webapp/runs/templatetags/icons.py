"""Marks in text: icons of the sprite in base.html, and code."""

from __future__ import annotations

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def icon(name: str) -> SafeString:
    return format_html('<svg class="icon" aria-hidden="true"><use href="#i-{}"/></svg>', name)


@register.filter
def code_spans(text: str) -> SafeString:
    """What stands between backticks, as code."""
    parts = text.split("`")
    pairs = zip(parts[::2], [*parts[1::2], ""], strict=False)
    return format_html_join("", "{}{}", ((plain, _code(code)) for plain, code in pairs))


def _code(text: str) -> SafeString | str:
    return format_html("<code>{}</code>", text) if text else ""
