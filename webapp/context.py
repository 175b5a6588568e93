"""What every template may use."""

from __future__ import annotations

from django.http import HttpRequest

from tracer import __version__


def site(request: HttpRequest) -> dict[str, object]:
    return {"version": __version__}
