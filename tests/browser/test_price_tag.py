"""The price tag as a person asks for it: pick a process, estimate, read what recording it would cost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.targets import leaky_service

pytestmark = [pytest.mark.browser, pytest.mark.ebpf]

COUNTED_WITHIN_MS = 40_000


def _pick(page: Page, pid: int) -> None:
    page.goto("/p/shop/record")
    page.get_by_placeholder("pid, command, user").fill(str(pid))
    page.locator("tbody tr", has=page.locator("td", has_text=re.compile(rf"^{pid}$"))).locator("label").click()


def test_a_person_sees_what_recording_would_cost_before_it_begins(signed_in: Page) -> None:
    page = signed_in
    page.goto("/p/shop/record")
    page.get_by_role("button", name="Estimate cost").click()
    expect(page.locator("#estimate")).to_contain_text("Pick a process first.")

    with leaky_service(1) as pid:
        _pick(page, pid)
        page.get_by_label("Service", exact=True).fill("shop-api")
        page.get_by_role("button", name="Estimate cost").click()
        expect(page.locator("#estimate")).to_contain_text(f"counts what process {pid} does")
        expect(page.locator("#estimate table")).to_be_visible(timeout=COUNTED_WITHIN_MS)

    rows = page.locator("#estimate tbody tr")
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text("malloc, exact")
    expect(page.locator("#estimate .tag")).to_have_text("recommended")
    expect(page.locator("#estimate")).to_contain_text(f"What recording process {pid} costs it")
    expect(page.get_by_label("Service", exact=True)).to_have_value("shop-api")  # nothing typed is lost

    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
