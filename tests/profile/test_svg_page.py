"""A picture opened in a browser from disk: its script searches, zooms and keeps both in the address."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tracer import protocol
from tracer.profile import tree
from tracer.profile.export.picture import Picture
from tracer.profile.export.svg import write_svg
from tracer.profile.formats import read_profile

WITHIN_MS = 20_000
RAW = (
    b"# memflame-folded 1\n# values: outstanding_bytes\nmain;serve;leak;leak 700\nmain;serve;load</title>&lt; 250\n"
    + b"main;start 50\n"
    + b"".join(b"main;start;child_%02d 1\n" % number for number in range(24))
)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    profile = read_profile(io.BytesIO(RAW), resolve=protocol.value_type_named)
    file = tmp_path / "run.svg"
    with file.open("w", encoding="utf-8") as out:
        write_svg(tree.build(profile), 0, out, Picture(width=1200, min_width=2))
    return file


@pytest.fixture
def page() -> Iterator[Page]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed: `make test` installs it")
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(offline=True, viewport={"width": 1200, "height": 700}).new_page()
        page.set_default_timeout(WITHIN_MS)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        yield page
        browser.close()
    assert complaints == []


@pytest.mark.browser
def test_the_script_says_what_the_picture_says_and_finds_what_it_hides(picture: Path, page: Page) -> None:
    page.goto(picture.as_uri())
    without_script = picture.read_text()

    for title in page.locator(".f title").all():
        words = title.text_content() or ""
        assert words.split("\n")[1] in without_script, words
    expect(page.locator(".hidden-frames")).to_contain_text("24\u00a0frames narrower than 2 px: 24\u00a0B together")

    page.keyboard.press("Control+f")
    page.keyboard.type("child_1|leak")
    expect(page.locator(".matched")).to_have_text("Matched 69.3\u00a0%, 710\u00a0B in 12\u00a0frames")
    expect(page.locator(".f .hit")).to_have_count(2)


@pytest.mark.browser
def test_zoom_shows_what_was_too_narrow_and_stands_in_the_address(picture: Path, page: Page) -> None:
    page.goto(picture.as_uri())
    page.locator(".f", has_text="start").click()
    expect(page.locator(".f title", has_text="child_")).to_have_count(24)
    expect(page.locator(".hidden-frames")).to_have_text("No frame is hidden.")
    page.get_by_label("Search frames").fill("child_0")
    address = page.evaluate("location.href")
    assert "x=" in address and "&y=" in address and "s=child_0" in address

    page.goto("about:blank")
    page.goto(address)

    expect(page.locator(".f title", has_text="child_")).to_have_count(24)
    expect(page.locator(".f .hit")).to_have_count(10)
    page.get_by_text("Reset zoom").click()
    expect(page.locator(".f title", has_text="child_")).to_have_count(0)
