"""A whole site with an agent, and Chromium in front of it; console errors and blocked requests fail the test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.complaints import Complaints
from tests.site_fixture import LiveSite, Story, make_site  # noqa: F401 - a fixture

WITHIN_MS = 45_000  # two are usual; the machine may be busy with the other half of the tests
expect.set_options(timeout=WITHIN_MS)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Ends with its module: Playwright keeps an event loop running in this thread, which asyncio's tests need."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed: `make test` installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LiveSite, Story]]:
    """SQLite and the file broker, as `make run` has them, with an agent on this machine."""
    site, story = _started(tmp_path_factory)
    try:
        site.start_agent(story)
        with site.person(story) as person:
            site.wait_until(lambda: "page_faults" in person.get(f"/p/{story.project}/hosts").text)
        yield site, story
    finally:
        site.stop()


@pytest.fixture(scope="module")
def site_of_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LiveSite, Story]]:
    """The same without an agent: it can't record, and is there sooner."""
    site, story = _started(tmp_path_factory)
    yield site, story
    site.stop()


def _started(tmp_path_factory: pytest.TempPathFactory) -> tuple[LiveSite, Story]:
    site = LiveSite(tmp_path_factory.mktemp("site"))
    try:
        story = site.prepare()
        site.start()
    except BaseException:
        site.stop()
        raise
    return site, story


@pytest.fixture
def complaints(site: tuple[LiveSite, Story]) -> Complaints:
    return Complaints(site[0].url)


@pytest.fixture
def context(browser: Browser, site: tuple[LiveSite, Story], complaints: Complaints) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=site[0].url, viewport={"width": 1440, "height": 1000})
    context.on("page", complaints.listen_to)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, complaints: Complaints) -> Iterator[Page]:
    page = context.new_page()
    page.set_default_timeout(WITHIN_MS)
    yield page
    assert complaints.lines == []


@pytest.fixture
def signed_in(page: Page, site: tuple[LiveSite, Story]) -> Page:
    """Alice's browser, on the dashboard."""
    story = site[1]
    page.goto("/login")
    page.get_by_label("Name").fill(story.username)
    page.get_by_label("Password").fill(story.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"**/p/{story.project}/")
    return page


@pytest.fixture
def alice(page: Page, site: tuple[LiveSite, Story]) -> Page:
    """The same with the session that the story has for her, on no page yet: sooner than by the form."""
    page.context.add_cookies([{"name": "sessionid", "value": site[1].session, "url": site[0].url}])
    return page
