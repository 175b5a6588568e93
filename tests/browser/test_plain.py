"""Pages in a browser without script: the same numbers in the same order as with it, and links instead of switches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.site_fixture import LiveSite, Story
from tests.uploads import uploaded

pytestmark = pytest.mark.browser

HEADER = "# memflame-folded 1\n# values: outstanding_bytes allocated_objects\n"
FOLDED = (
    HEADER
    + "".join(f"main;serve;f{number};g{number % 7};malloc {4096 + 16 * number} {number}\n" for number in range(9))
    + "main;a;a;a;operator new(unsigned long);malloc 1234567 3\nmain;free_all 0 2\n"
)

PARTS = ["title", "finding", "change", "change-share", "change-parts", "warnings", "count"]
PARTS += [f"{side}-{part}" for side in ("before", "after") for part in ("total", "deploy", "facts", "run")]


@pytest.fixture
def plain(browser: Browser, site: tuple[LiveSite, Story]) -> Iterator[Page]:
    """Alice's browser, in which no script runs."""
    context = browser.new_context(
        base_url=site[0].url, viewport={"width": 1440, "height": 1000}, java_script_enabled=False
    )
    page = context.new_page()
    page.goto("/login")
    page.get_by_label("Name").fill(site[1].username)
    page.get_by_label("Password").fill(site[1].password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/p/shop/")
    yield page
    context.close()


def upload(site: tuple[LiveSite, Story], folded: str) -> str:
    """The run's address."""
    return f"/runs/{uploaded(*site, folded)}"


def upload_files(site: tuple[LiveSite, Story], files: list[str]) -> str:
    """The address of one run of them all."""
    headers = {"Authorization": f"Bearer {site[1].project_token}"}
    with httpx.Client(base_url=f"{site[0].url}/api/v1", headers=headers, timeout=60) as api:
        asked = {"files": len(files), "file": "1"}
        first: dict[str, Any] = api.post("/projects/shop/uploads", params=asked, content=files[0].encode()).json()
        for number, folded in enumerate(files[1:], 2):
            api.put(f"/runs/{first['run']}/files/{number}", params={"file": f"{number}"}, content=folded.encode())
    return f"/runs/{first['run']}"


def rows(page: Page) -> list[list[str]]:
    lines = page.locator("[data-part$=functions] tbody tr").all()
    return [[cell.strip() for cell in line.locator("td").all_text_contents()] for line in lines]


def test_a_run_has_the_same_table_with_and_without_script(
    plain: Page, signed_in: Page, site: tuple[LiveSite, Story]
) -> None:
    run = upload(site, FOLDED)
    plain.goto(run)
    signed_in.goto(run)
    signed_in.wait_for_selector("html[data-viewer=ready]")
    signed_in.get_by_role("button", name="Show all", exact=True).click()

    assert rows(plain)[0][0] == "a"
    assert rows(plain) == rows(signed_in)
    assert plain.locator("[data-part=count]").text_content() == signed_in.locator("[data-part=count]").text_content()
    expect(plain.locator("noscript .note")).to_be_visible()
    expect(plain.locator("#graph-tree")).to_be_hidden()


def test_its_value_types_and_columns_are_links_which_a_browser_with_script_understands(
    plain: Page, signed_in: Page, site: tuple[LiveSite, Story]
) -> None:
    plain.goto(upload(site, FOLDED))

    plain.get_by_role("link", name="Allocated objects").click()
    plain.get_by_role("link", name="Total", exact=True).click()

    assert rows(plain)[0][:2] == ["main", "0\xa0objects"]
    signed_in.goto(plain.url)
    signed_in.wait_for_selector("html[data-viewer=ready]")
    expect(signed_in.locator("[data-shown]").first).to_have_attribute("data-shown", "allocated_objects@1")
    assert rows(signed_in)[:12] == rows(plain)[:12]


def test_an_interval_of_a_flow_has_the_same_table_with_and_without_script(
    plain: Page, signed_in: Page, site: tuple[LiveSite, Story]
) -> None:
    plain.goto(upload_files(site, [FOLDED, FOLDED + "main;serve;f3;g3;calloc 100 70\n", FOLDED + "main;late 1 5\n"]))

    plain.get_by_role("link", name="Allocated objects").click()
    plain.get_by_role("navigation", name="Snapshot").get_by_role("link").nth(1).click()
    plain.get_by_role("navigation", name="Since").get_by_role("link").nth(1).click()

    assert rows(plain)[0][:2] == ["g3", "70\xa0objects"]
    signed_in.goto(plain.url)
    signed_in.wait_for_selector("html[data-viewer=ready]")
    expect(signed_in.locator("[data-shown]").first).to_have_attribute("data-shown", "allocated_objects@1..2")
    assert rows(signed_in) == rows(plain)


def test_rules_of_a_comparison_are_links_that_a_browser_with_script_understands(
    plain: Page, signed_in: Page, site: tuple[LiveSite, Story]
) -> None:
    before, after = (upload(site, f"{HEADER}main;parse::h{digit * 16} 5 6\n") for digit in "ab")
    plain.goto(f"/compare{before.removeprefix('/runs')}{after.removeprefix('/runs')}")

    plain.get_by_text("Alignment", exact=True).click()
    plain.get_by_role("link", name="Hashes and suffixes of the compiler").click()
    plain.get_by_role("link", name="Allocated objects").click()

    assert [row[0] for row in rows(plain)] == ["main", "parse"]
    signed_in.goto(plain.url)
    signed_in.wait_for_selector("html[data-viewer=ready]")
    assert rows(signed_in) == rows(plain)


def test_a_comparison_has_the_same_finding_and_table_with_and_without_script(
    plain: Page, signed_in: Page, site: tuple[LiveSite, Story]
) -> None:
    before = upload(site, FOLDED)
    after = upload(site, FOLDED + "main;a;fresh;malloc 5000000 2\nmain;serve;f3;g3;calloc 100 1\n")
    address = f"/compare{before.removeprefix('/runs')}{after.removeprefix('/runs')}"
    plain.goto(address)
    expect(plain.locator("[data-part=plain-functions] tbody tr").first).to_contain_text("fresh")
    signed_in.goto(address)
    signed_in.wait_for_selector("html[data-viewer=ready]")
    signed_in.get_by_role("button", name="Show all", exact=True).click()

    assert rows(plain) == rows(signed_in)
    for part in PARTS:
        texts = [page.locator(f"[data-part={part}]").text_content() for page in (plain, signed_in)]
        assert texts[0] == texts[1], part
