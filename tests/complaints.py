"""What a browser complains of while a test has it: console, errors of scripts, requests to other hosts, dialogues."""

from __future__ import annotations

from playwright.sync_api import Page


class Complaints:
    """What the browser complained of, and requests to any other host."""

    def __init__(self, own_address: str) -> None:
        self.own_address = own_address
        self.lines: list[str] = []

    def listen_to(self, page: Page) -> None:
        page.on("console", lambda message: self._add(self._is_complaint(message.type, message.text), message.text))
        page.on("pageerror", lambda error: self._add(True, str(error)))
        page.on("request", lambda request: self._add(self._is_foreign(request.url), f"asked for {request.url}"))
        page.on("requestfailed", lambda request: self._add("ERR_ABORTED" not in (request.failure or ""), request.url))
        page.on("dialog", lambda dialog: self._add(True, f"dialog: {dialog.message}"))

    def _is_complaint(self, kind: str, text: str) -> bool:
        # What was fetched ahead is used within seconds where the machine is not busy with other tests.
        return kind in ("error", "warning") and "but not used within a few seconds" not in text

    def _is_foreign(self, url: str) -> bool:
        return not url.startswith((self.own_address, "data:", "blob:"))

    def _add(self, is_complaint: bool, text: str) -> None:
        if is_complaint:
            self.lines.append(text)
