"""What viewers of large profiles do wrong, shown right on a page: docs/viewer-pitfalls.md has the list."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.memory import held_bytes
from tests.site_fixture import LiveSite, Story

pytestmark = pytest.mark.browser

DEEP = 120
CHAINS = 400
CANVASES = """() => {
  const seen = [...document.querySelectorAll("canvas")].filter((canvas) => canvas.checkVisibility());
  return seen.map((canvas) => {
    const box = canvas.getBoundingClientRect();
    return [canvas.width, canvas.height, box.width * devicePixelRatio, box.height * devicePixelRatio];
  });
}"""
DEEPEST = """() => {
  const tree = window.memflame.tree();
  return [tree.n, tree.rows.length - 1];
}"""


def folded() -> str:
    """48,000 frames: each chain is 120 deep and goes its own way from its second frame on."""
    chains = (
        ";".join(["main", f"own_{chain}", *(f"f{(chain + d) % 97}" for d in range(DEEP - 2))])
        for chain in range(CHAINS)
    )
    return "".join(f"{chain} {16 + number % 7}\n" for number, chain in enumerate(chains))


@pytest.fixture(scope="module")
def site(site_of_files: tuple[LiveSite, Story]) -> tuple[LiveSite, Story]:
    return site_of_files


@pytest.fixture(scope="module")
def run(site_of_files: tuple[LiveSite, Story]) -> str:
    """The path of a run of many deep stacks, and one of 10,000 frames."""
    live, story = site_of_files
    text = folded() + ";".join(["main", *["recursive"] * 9_999]) + " 1000\n"
    with live.person(story) as person:
        head = {"Authorization": f"Bearer {story.project_token}"}
        answer = person.post(
            f"/api/v1/projects/{story.project}/uploads", content=text.encode(), headers=head, timeout=60
        )
    assert answer.status_code == 201, answer.text
    return f"/runs/{answer.json()['run']}"


@pytest.fixture
def scaled(browser: Browser, site: tuple[LiveSite, Story]) -> Iterator[list[Page]]:
    """Pages of Alice's at a scale of 1, 1.5 and 2."""
    live, story = site
    contexts = [
        browser.new_context(base_url=live.url, viewport={"width": 1200, "height": 800}, device_scale_factor=scale)
        for scale in (1, 1.5, 2)
    ]
    for context in contexts:
        context.add_cookies([{"name": "sessionid", "value": story.session, "url": live.url}])
    yield [context.new_page() for context in contexts]
    for context in contexts:
        context.close()


def show(page: Page, run: str) -> None:
    page.goto(run)
    page.wait_for_selector("html[data-viewer=ready]")


def test_pitfalls_4_5_7_and_18_all_frames_are_there_without_elements_for_them(signed_in: Page, run: str) -> None:
    show(signed_in, run)

    assert signed_in.evaluate(DEEPEST) == [CHAINS * (DEEP - 1) + 1 + 10_000, 10_001]
    assert signed_in.evaluate("document.querySelectorAll('*').length") < 2000
    marks = "['viewer-overview', 'viewer-ready'].map((name) => performance.getEntriesByName(name)[0].startTime)"
    overview, ready = signed_in.evaluate(marks)
    assert 0 < overview <= ready


def test_pitfall_1_the_matched_share_is_the_same_at_every_zoom(signed_in: Page, run: str) -> None:
    show(signed_in, run)
    signed_in.get_by_label("Search frames").fill("own_1$")
    matched = signed_in.locator("[data-part=matched]")
    expect(matched).to_contain_text("%")
    before = matched.inner_text()

    signed_in.locator("[data-part=functions] .rowlink", has_text="recursive").click()

    expect(signed_in.locator("[data-part=selected] .code")).to_have_text("recursive")
    assert matched.inner_text() == before


def test_pitfall_6_a_canvas_is_as_large_as_what_is_seen_of_it_at_any_scale(scaled: list[Page], run: str) -> None:
    for page in scaled:
        show(page, run)
        assert page.evaluate(CANVASES)
        room = page.evaluate("[innerWidth * devicePixelRatio, innerHeight * devicePixelRatio]")
        for width, height, seen_width, seen_height in page.evaluate(CANVASES):
            assert abs(width - seen_width) <= 2 and abs(height - seen_height) <= 2, "text would be blurred"
            assert width <= room[0] and height <= room[1]


def test_pitfall_16_a_page_that_was_left_leaves_nothing(signed_in: Page, run: str) -> None:
    show(signed_in, run)
    first = held_bytes(signed_in)
    for _ in range(9):
        show(signed_in, run)

    assert held_bytes(signed_in) < 2 * first
    assert len(signed_in.workers) == 1
