"""Every page as axe-core judges it: in light and dark, on a phone and a wide screen, with menus and dialogues open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.site_fixture import ROOT, LiveSite, Story
from tests.uploads import uploaded

pytestmark = [pytest.mark.browser, pytest.mark.first_half]

AXE = ROOT / "tests" / "peers" / "node_modules" / "axe-core" / "axe.min.js"
WIDE, PHONE = {"width": 1600, "height": 1000}, {"width": 360, "height": 740}
LOOKS = [("light", WIDE), ("dark", PHONE), ("dark", WIDE), ("light", PHONE)]
PAGES = ["/p/shop/", "/p/shop/settings", "/p/shop/hosts", "/p/shop/record", "/p/shop/compare", "/p/shop/pushes"]
PAGES += ["/upload", "/help/reading", "/api/docs"]
# The picture is one canvas, whose labels tests/frontend/palette.test.mjs holds to 4.5:1; the rest is judged.
JUDGE = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  const words = (id) => ({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`;
  return violations.flatMap(({ id, nodes }) => nodes.map(words(id)));
}"""
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
BEFORE = """# memflame-folded 1
# values: outstanding_bytes allocated_bytes
main;serve;app::parse;std::vec::grow;malloc 700 900
main;serve;app::parse;app::row 100 100
main;load;walk;walk;walk;leaf 150 4000
"""
AFTER = BEFORE + "main;serve;cache<Key, std::string>::insert 5000 5000\n"


@pytest.fixture(scope="module")
def site(site_of_files: tuple[LiveSite, Story]) -> tuple[LiveSite, Story]:
    return site_of_files


@pytest.fixture(scope="module")
def runs(site: tuple[LiveSite, Story]) -> list[str]:
    """Two runs with a difference, by their ids."""
    return [uploaded(*site, folded) for folded in (BEFORE, AFTER)]


@pytest.fixture
def judged(alice: Page) -> Iterator[Page]:
    if not AXE.exists():
        pytest.fail("axe-core is not installed: `make test` installs it")
    alice.emulate_media(reduced_motion="reduce")
    yield alice


def _violations(page: Page, where: str) -> list[str]:
    """What is wrong, with the place where it was seen."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(Path(AXE).read_text())
    return [f"{where}: {each}" for each in page.evaluate(JUDGE)]


def _violations_at(page: Page, where: str, looks: list[tuple[str, dict[str, int]]]) -> list[str]:
    found: list[str] = []
    for theme, size in looks:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.set_viewport_size(size)  # type: ignore[arg-type]
        found += _violations(page, f"{where}, {theme}, {size['width']} px")
        found += [f"{where}: {page.evaluate(SIDEWAYS)} px wider than the window"] * (page.evaluate(SIDEWAYS) > 0)
    return found


def _wait_until_drawn(page: Page) -> None:
    page.wait_for_selector("html[data-viewer=ready]")


def test_pages_without_a_graph_have_no_violation(judged: Page, runs: list[str]) -> None:
    found: list[str] = []
    for address in PAGES:
        judged.goto(address)
        found += _violations_at(judged, address, LOOKS[:2])

    assert found == []


def test_the_page_to_sign_in_has_no_violation(judged: Page) -> None:
    judged.context.clear_cookies()
    judged.goto("/login")

    assert _violations_at(judged, "sign in", LOOKS[:2]) == []


def test_a_run_has_no_violation_in_any_view(judged: Page, runs: list[str]) -> None:
    judged.goto(f"/runs/{runs[1]}")
    _wait_until_drawn(judged)
    found = _violations_at(judged, "a run", LOOKS)
    for view in ("flame", "bottom-up", "sandwich", "list"):
        judged.goto(f"/runs/{runs[1]}#view={view}&fn=app::parse&q=app&steps=recursion")
        judged.reload()
        _wait_until_drawn(judged)
        found += _violations(judged, view)

    assert found == []


def test_a_comparison_has_no_violation(judged: Page, runs: list[str]) -> None:
    judged.goto(f"/compare/{runs[0]}/{runs[1]}#q=parse")
    _wait_until_drawn(judged)

    assert _violations_at(judged, "a comparison", LOOKS) == []


def test_open_menus_and_dialogues_have_no_violation(judged: Page, runs: list[str]) -> None:
    judged.goto(f"/runs/{runs[1]}#f=main;serve;app::parse")
    _wait_until_drawn(judged)
    found: list[str] = []
    for size in (WIDE, PHONE):
        judged.set_viewport_size(size)  # type: ignore[arg-type]
        for number in range(judged.locator("details > summary:visible").count()):
            judged.locator("details > summary:visible").nth(number).click()
            found += _violations(judged, f"menu {number} at {size['width']} px")
            found += [f"menu {number} is wider than the window"] * (judged.evaluate(SIDEWAYS) > 0)
            judged.locator("details > summary:visible").nth(number).click()
    judged.locator("#graph-tree").focus()
    judged.keyboard.press("?")
    found += _violations(judged, "the list of keys")

    assert found == []
