"""The main job, as a person does it: record, watch, zoom, search, share the link, record again, compare."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.targets import leaky_service

pytestmark = [pytest.mark.browser, pytest.mark.ebpf, pytest.mark.timeout(300)]

LEAKING = "session_new"
ENDED_WITHIN_MS = 40_000
PICTURES = os.environ.get("MEMFLAME_PICTURES")  # `make screenshots` sets it to docs/img


def _record(page: Page, pid: int, *, seconds: int, deploy: str) -> str:
    """Start a recording on the New-run page; answers the run's id."""
    page.goto("/p/shop/record")
    page.get_by_placeholder("pid, command, user").fill(str(pid))
    row = page.locator("tbody tr", has=page.locator("td", has_text=re.compile(rf"^{pid}$")))
    row.locator("label").click()
    page.locator("#c-malloc").check()
    page.locator("label", has=page.locator("#duration-own")).click()
    page.get_by_label("Own, in seconds").fill(str(seconds))
    page.get_by_label("A snapshot every, in seconds").fill("2")
    page.get_by_label("Service", exact=True).fill("shop-api")
    page.get_by_label("Deploy", exact=True).fill(deploy)
    page.locator("aside button[type=submit]").click()
    page.wait_for_url("**/runs/r-*")
    return page.url.rpartition("/")[2]


def _wait_until_drawn(page: Page) -> None:
    page.wait_for_selector("html[data-viewer=ready]")


def _wait_until_ended(page: Page) -> None:
    expect(page.locator("[data-when=ended] a.primary")).to_be_visible(timeout=ENDED_WITHIN_MS)


def _click_frame(page: Page, name: str) -> None:
    """Frames are drawn on a canvas, so the page is asked where a name is."""
    page.wait_for_function("name => window.memflame && window.memflame.frameRect(name)", arg=name)
    box = page.evaluate("name => window.memflame.frameRect(name)", name)
    page.mouse.click(box["x"] + box["w"] / 2, box["y"] + box["h"] / 2)


def _keep_picture(page: Page, name: str) -> None:
    if PICTURES:
        page.mouse.move(0, 0)
        page.screenshot(path=Path(PICTURES) / name, full_page=True)


def test_a_person_records_sees_searches_shares_and_compares(signed_in: Page) -> None:
    page = signed_in
    expect(page.get_by_role("heading", name="Shop", exact=True)).to_be_visible()

    # record, and watch it fill
    with leaky_service(1) as pid:
        before = _record(page, pid, seconds=8, deploy="2026.11.1")
        expect(page.locator("[data-part=run-state]")).to_contain_text("recording")
        page.wait_for_selector("[data-part=viewer]:visible")
        _wait_until_drawn(page)
        expect(page.locator("[data-part=now]")).to_contain_text("B")
        _keep_picture(page, "run-recording.png")
        _wait_until_ended(page)

    # the leaking function is in the table
    expect(page.locator("[data-part=functions]")).to_contain_text(LEAKING)

    # zoom by click, see it in the path
    _click_frame(page, LEAKING)
    expect(page.locator("[data-part=path]")).to_contain_text(LEAKING)
    expect(page.locator("[data-part=graph]")).to_have_attribute("data-zoom-path", re.compile(rf"(^|;){LEAKING}"))

    # search with a matched total
    page.get_by_label("Search frames").fill("session_(new|open)")
    expect(page.locator("[data-part=matched]")).to_contain_text("matched")
    matched = page.locator("[data-part=matched]").inner_text()

    # the copied link shows the same view in a new tab
    link = page.url
    assert "#" in link
    other = page.context.new_page()
    other.bring_to_front()
    other.goto(link)
    _wait_until_drawn(other)
    expect(other.locator("[data-part=matched]")).to_have_text(matched)
    expect(other.locator("[data-part=path]")).to_contain_text(LEAKING)
    expect(other.get_by_label("Search frames")).to_have_value("session_(new|open)")
    other.close()

    # record the next deploy, which leaks more, and compare
    with leaky_service(2) as pid:
        after = _record(page, pid, seconds=8, deploy="2026.11.2")
        _wait_until_ended(page)
    _wait_until_drawn(page)
    _keep_picture(page, "run.png")

    page.goto(f"/p/shop/compare?before={before}&after={after}")
    page.get_by_role("button", name="Compare 2 runs").click()
    page.wait_for_url(f"**/compare/{before}/{after}")
    _wait_until_drawn(page)
    expect(page.locator("[data-part=functions] tbody tr").first).to_contain_text(LEAKING)
    expect(page.locator("[data-part=finding]")).to_contain_text("more than before")
    expect(page.locator("[data-part=functions] tbody tr", has_text="audit_append")).to_contain_text("new")
    _keep_picture(page, "compare.png")

    # and back again from the dashboard
    page.goto("/p/shop/")
    expect(page.locator("tbody tr")).to_have_count(2)
    _keep_picture(page, "dashboard.png")


def test_cancel_ends_a_recording_within_two_seconds(signed_in: Page) -> None:
    page = signed_in
    with leaky_service(1) as pid:
        _record(page, pid, seconds=60, deploy="cancelled")
        expect(page.locator("[data-part=run-state]")).to_contain_text("recording")

        page.get_by_role("button", name="Cancel").click()

        expect(page.locator("[data-part=state-note]")).to_contain_text("ancelled", timeout=2_000)


def test_stop_and_keep_leaves_a_graph(signed_in: Page) -> None:
    page = signed_in
    with leaky_service(1) as pid:
        _record(page, pid, seconds=60, deploy="stopped")
        expect(page.locator("[data-part=run-state]")).to_contain_text("recording")
        page.wait_for_selector("[data-part=viewer]:visible")

        page.get_by_role("button", name="Stop and keep").click()

        _wait_until_ended(page)
        _wait_until_drawn(page)
        expect(page.locator("[data-part=functions]")).to_contain_text(LEAKING)
