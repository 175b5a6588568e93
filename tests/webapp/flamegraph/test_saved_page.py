"""A run page in one file: opened from disk in a browser without network, it draws, searches and zooms."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from webapp.runs.models import Run

WITHIN_MS = 20_000
HOSTILE = b"</script><img src=x onerror=alert(1)>"
LEAKY = (
    b"""# memflame-folded 1
# values: outstanding_bytes outstanding_objects
main;serve;load_index;malloc 4096 1
main;serve;leak_cache;malloc 94208 23
main;%s;malloc 128 2
"""
    % HOSTILE
)
LATER = LEAKY.replace(b"94208 23", b"188416 46")


@contextmanager
def opened(file: Path) -> Iterator[Page]:
    """From disk, without network; complaints of the browser and requests fail the test."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed: `make test` installs it")
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(offline=True, viewport={"width": 1300, "height": 900})
        page = context.new_page()
        page.set_default_timeout(WITHIN_MS)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: complaints.append(request.url) if "http" in request.url[:4] else None)
        page.goto(file.as_uri())
        yield page
        if pictures := os.environ.get("MEMFLAME_PICTURES"):
            page.screenshot(path=f"{pictures}/{file.stem}.png", full_page=True)
        browser.close()
    assert complaints == []


@pytest.fixture
def saved(ci: Any, tmp_path: Path) -> Callable[[str, str], Path]:
    """The page as it comes from the API, on disk."""

    def save(path: str, name: str) -> Path:
        response = ci.get(path)
        assert response.status_code == 200, response.content
        (tmp_path / name).write_bytes(response.content)
        return tmp_path / name

    return save


@pytest.mark.browser
def test_a_run_works_from_disk(uploaded_run: Callable[..., Run], saved: Callable[[str, str], Path]) -> None:
    run = uploaded_run(LEAKY, service="search-api")
    file = saved(f"/runs/{run.run_id}/snapshots/1/export/html", "run.html")

    with opened(file) as page:
        expect(page.locator("html")).to_have_attribute("data-viewer", "ready")
        expect(page.get_by_role("radio", name="Outstanding objects")).to_be_visible()
        page.get_by_placeholder("Search by expression").fill("leak_")
        expect(page.locator("[data-part=matched]")).to_contain_text("95.7")
        page.get_by_role("button", name="leak_cache").first.click()
        expect(page.locator("[data-part=graph]")).to_have_attribute("data-zoom-path", "main;serve;leak_cache")
        page.locator("label", has_text="Outstanding objects").first.click()
        expect(page.locator("[data-page=run]")).to_have_attribute("data-shown", "outstanding_objects@1")
        expect(page.locator("[data-part=functions]")).to_contain_text(HOSTILE.decode())


@pytest.mark.browser
def test_a_difference_works_from_disk(uploaded_run: Callable[..., Run], saved: Callable[[str, str], Path]) -> None:
    before, after = uploaded_run(LEAKY, deploy="1.0"), uploaded_run(LATER, deploy="1.1")
    file = saved(f"/compare/{before.run_id}/{after.run_id}/export/html", "difference.html")

    with opened(file) as page:
        expect(page.locator("html")).to_have_attribute("data-viewer", "ready")
        expect(page.locator("[data-part=finding]")).to_contain_text("92.0\u00a0kB more than before")
        page.get_by_placeholder("Search by expression").fill("leak_")
        expect(page.locator("[data-part=matched]")).to_contain_text("+92.0\u00a0kB")
        assert "t=outstanding_bytes" in page.url
        page.reload()  # its address now names the value type
        expect(page.locator("[data-part=matched]")).to_contain_text("+92.0\u00a0kB")


@pytest.mark.browser
def test_an_interval_works_from_disk(
    claimed_run: Callable[..., Run], snapshot_of: Callable[..., Any], saved: Callable[[str, str], Path]
) -> None:
    run = claimed_run(duration_s=20.0)
    for seq, parse in ((1, 100), (2, 350)):
        body = f"# memflame-folded 1\n# values: outstanding_bytes allocated_bytes\nmain;parse 50 {parse}\n"
        snapshot_of(run, seq, body.encode(), elapsed_s=10.0 * seq)
    file = saved(f"/runs/{run.run_id}/intervals/1/2/export/html?view=flame", "interval.html")

    with opened(file) as page:
        shown = page.locator("[data-page=run]")
        expect(shown).to_have_attribute("data-shown", "allocated_bytes@1..2")
        expect(page.locator("[data-part=path]")).to_contain_text("250\u00a0B, the whole interval")
        expect(page.get_by_role("radio", name="Flame")).to_be_checked()
        page.get_by_role("slider", name="A: since").focus()
        page.keyboard.press("Home")
        expect(shown).to_have_attribute("data-shown", "allocated_bytes@2")
        page.locator("label", has_text="Outstanding bytes").first.click()
        expect(shown).to_have_attribute("data-shown", "outstanding_bytes@2")
        expect(page.locator("html")).to_have_attribute("data-viewer", "ready")


def test_a_difference_of_one_run_holds_both_snapshots(
    recorded_run: Callable[..., Run], snapshot_of: Callable[..., Any], saved: Callable[[str, str], Path]
) -> None:
    run = recorded_run()
    for seq in (2, 3):
        snapshot_of(run, seq, elapsed_s=10.0 * seq)

    text = saved(f"/compare/{run.run_id}@1/{run.run_id}@3/export/html", "difference.html").read_text()

    found = re.search(r'<script type="application/json" id="offline">(.*?)</script>', text)
    assert found is not None
    view = json.loads(found[1])["answers"][f"/api/v1/runs/{run.run_id}"]["json"]
    assert [each["seq"] for each in view["snapshots"]] == [1, 3]


def test_nothing_in_the_file_leads_outside_or_ends_early(
    uploaded_run: Callable[..., Run], saved: Callable[[str, str], Path]
) -> None:
    run = uploaded_run(LEAKY, service="search-api")

    text = saved(f"/runs/{run.run_id}/snapshots/1/export/html", "run.html").read_text()

    assert not re.findall(r'(?:src|href)="(?!#|http://testserver/)[^"]+"', text)
    assert "<img" not in text
    assert text.count("<script") == text.count("</script>")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    assert "unsafe" not in policy[1]


def test_the_file_holds_one_snapshot_of_the_run(
    recorded_run: Callable[..., Run], snapshot_of: Callable[..., Any], saved: Callable[[str, str], Path]
) -> None:
    run = recorded_run()
    snapshot_of(run, 2, elapsed_s=20.0)

    text = saved(f"/runs/{run.run_id}/snapshots/2/export/html", "run.html").read_text()

    found = re.search(r'<script type="application/json" id="offline">(.*?)</script>', text)
    assert found is not None
    answers = json.loads(found[1])["answers"]
    assert [each["seq"] for each in answers[f"/api/v1/runs/{run.run_id}"]["json"]["snapshots"]] == [2]
    assert {address.split("/")[4] for address in answers if "payload" in address} == {"2"}
