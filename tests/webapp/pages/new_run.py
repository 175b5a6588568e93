"""The form of the New-run page as tests fill it in and read it."""

from __future__ import annotations

from typing import Any

from webapp.hosts.models import Host

NEW_RUN = "/p/search-api/record"


def filled_in(host: Host, **changes: str) -> dict[str, str]:
    form = {"host": host.host_id, "process": "4711-1234", "collector": "malloc", "duration": "60"}
    return {name: value for name, value in (form | changes).items() if value != "absent"}


def checked_in(page: Any) -> set[str]:
    return {box.attributes["value"] for box in page.all("input", type="radio") if "checked" in box.attributes}
