"""A run of a million frames on its page: what viewers of profiles do wrong, seen at the size where they do."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.benchmarks.viewer_profiles import DEEPEST, call_tree
from tests.complaints import Complaints
from tests.exact_answers import deepest, matched, narrowest, path_of, self_by_function, total_by_function
from tests.memory import held_bytes
from tests.page_scripts import CANVASES, COUNT, FIRST, GO, LOOK, MARKS, NEXT, PICKS, ROOTS, WATCH
from tests.site_fixture import LiveSite, Story
from tests.stored_tree import stored
from tracer.profile.amounts import percent, plural, value
from tracer.profile.tree import CallTree

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]  # the first test waits for the run, half a minute

FRAMES = 1_000_000
TIMES = 99_991  # each value so many times, a prime: totals are far beyond 2^32 then
PATTERNS = ["reserve_rehash", "^кэш::", r"operator<<_1[0-9a-f]*\("]
SCRIPT_MS = 1000 / 60
PICK_MS = 1.0
WIDTH, HEIGHT = 1440, 1000
ELEMENTS = "document.querySelectorAll('*').length"
TREE = "(() => { const { n, total, rows } = memflame.tree(); return [n, total[0], rows.length - 2]; })()"


@pytest.fixture(scope="module")
def site(site_of_files: tuple[LiveSite, Story]) -> tuple[LiveSite, Story]:
    return site_of_files


@pytest.fixture(scope="module")
def tree() -> CallTree:
    made = call_tree(FRAMES)
    return dataclasses.replace(made, selfs=(made.selfs[0] * TIMES,))


@pytest.fixture(scope="module")
def run(site: tuple[LiveSite, Story], tree: CallTree, tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"/runs/{stored(*site, tree, tmp_path_factory.mktemp('tree'))}"


@pytest.fixture(scope="module")
def opened(browser: Browser, site: tuple[LiveSite, Story]) -> Iterator[BrowserContext]:
    """Alice's browser; all tests of this module share it."""
    live, story = site
    complaints = Complaints(live.url)
    context = browser.new_context(base_url=live.url, viewport={"width": WIDTH, "height": HEIGHT})
    context.add_cookies([{"name": "sessionid", "value": story.session, "url": live.url}])
    context.on("page", complaints.listen_to)
    yield context
    context.close()
    assert complaints.lines == []


@pytest.fixture(scope="module")
def million(opened: BrowserContext, run: str) -> Page:
    """The page, loaded once: each test goes to its own fragment."""
    page = opened.new_page()
    page.goto(run)
    wait_until_drawn(page)
    return page


@pytest.fixture
def still(million: Page) -> Iterator[Page]:
    """The same without animations."""
    million.emulate_media(reduced_motion="reduce")
    yield million
    million.emulate_media(reduced_motion="no-preference")


@pytest.fixture
def zoomable(million: Page) -> Iterator[Callable[[float], dict[str, int]]]:
    """Zooms the page as browsers do, which gives it fewer points, each of more pixels; returns its size then."""
    devtools = million.context.new_cdp_session(million)

    def zoom(times: float) -> dict[str, int]:
        size = {"width": round(WIDTH / times), "height": round(HEIGHT / times)}
        devtools.send("Emulation.setDeviceMetricsOverride", {**size, "deviceScaleFactor": times, "mobile": False})
        return size

    yield zoom
    devtools.send("Emulation.clearDeviceMetricsOverride")


@pytest.fixture(scope="module")
def function(tree: CallTree) -> str:
    """The one with the largest total: it is called from thousands of places, and by itself."""
    totals = total_by_function(tree)
    return max(totals, key=totals.__getitem__)


def wait_until_drawn(page: Page) -> None:
    page.wait_for_selector("html[data-viewer=ready]")


def go(page: Page, **fields: str) -> None:
    page.evaluate(GO, "#v=1" + "".join(f"&{key}={text}" for key, text in fields.items()))
    wait_until_drawn(page)


def address_of(path: list[str]) -> str:
    return ";".join(quote(name, safe="") for name in path)


def expect_zoomed(page: Page, path: list[str]) -> None:
    expect(page.locator("#graph")).to_have_attribute("data-zoom-path", ";".join(path))


def expect_named(page: Page, path: list[str]) -> None:
    """The page is at the frame of that path, and says which it is."""
    expect_zoomed(page, path)
    expect(page.locator("[data-part=selected] .code")).to_have_text(path[-1])
    expect(page.locator("[data-part=path] [aria-current=true]")).to_have_text(path[-1])


def search(page: Page, pattern: str) -> str:
    """What the page says of it."""
    box, words = page.get_by_label("Search frames"), page.locator("[data-part=matched]")
    box.fill("")
    expect(words).to_have_text("")
    box.fill(pattern)
    expect(words).to_contain_text("frames")
    return words.inner_text()


def words_of(tree: CallTree, pattern: str) -> str:
    found, all_bytes = matched(tree, pattern), tree.total(0)
    frames = plural(found.frames, "frame", "frames")
    return f"matched {value(found.total)}, {percent(found.total / all_bytes)}, {frames}"


def test_pitfall_8_a_total_beyond_2_to_the_32_is_exact(million: Page, tree: CallTree) -> None:
    total = tree.total(0)

    assert total > 2**40
    assert million.evaluate(TREE) == [FRAMES + 1, total, DEEPEST]
    expect(million.locator("[data-part=path] .base")).to_contain_text(f"100{chr(160)}% is {value(total)}")
    expect(million.locator("[data-part=selected]")).to_contain_text(f"total {value(total)}")


def test_pitfall_1_the_matched_share_is_exact_and_the_same_at_every_zoom(million: Page, tree: CallTree) -> None:
    way = path_of(tree, deepest(tree))
    expected = [words_of(tree, pattern) for pattern in PATTERNS]
    for path in ([], way[:2], way[:60]):
        go(million, f=address_of(path))
        expect_zoomed(million, path)

        assert [search(million, pattern) for pattern in PATTERNS] == expected, path[-1:]


def test_pitfall_1_the_stacks_that_match_hold_exactly_what_is_said(million: Page, tree: CallTree) -> None:
    for pattern in PATTERNS:
        go(million, steps=f"keep-matches:{quote(pattern, safe='')}")

        assert million.evaluate(TREE)[1] == matched(tree, pattern).total, pattern


def test_pitfalls_3_and_5_a_million_matches_neither_throw_nor_become_elements(million: Page, tree: CallTree) -> None:
    go(million)

    assert search(million, ".") == words_of(tree, ".")
    expect(million.locator("#graph")).to_have_attribute("data-matched", str(FRAMES))
    million.get_by_role("button", name="Next match").click()
    widest = max(tree.levels[1].tolist(), key=tree.totals(0).__getitem__)
    expect(million.locator("[data-part=selected] .code")).to_have_text(tree.names[tree.name[widest]])
    assert million.evaluate(ELEMENTS) < 2000


@pytest.mark.parametrize("which", [narrowest, deepest])
def test_pitfall_4_every_frame_is_reached_by_its_address(million: Page, tree: CallTree, which: Any) -> None:
    path = path_of(tree, which(tree))

    go(million, f=address_of(path))

    expect_named(million, path)


def test_pitfall_4_the_short_address_of_the_deepest_frame_leads_there_again(million: Page, tree: CallTree) -> None:
    path = path_of(tree, deepest(tree))
    go(million, f=address_of(path))

    for _ in range(2):  # the second time at the address that the page has made of it
        million.reload()
        wait_until_drawn(million)

        expect_named(million, path)
        assert "&f=~" in million.url and len(million.url) < 1000


@pytest.mark.parametrize("which", [deepest, narrowest])
def test_pitfall_4_every_frame_is_reached_by_zooming(still: Page, tree: CallTree, which: Any) -> None:
    path = path_of(tree, which(tree))
    go(still)

    while not (step := still.evaluate(NEXT, path))["isThere"]:
        still.mouse.move(step["x"], step["y"])
        if step["isWide"]:
            still.mouse.click(step["x"], step["y"])
        else:
            wheel_closer(still)

    expect_named(still, path)


def wheel_closer(page: Page) -> None:
    before = page.url
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    page.wait_for_function("before => location.href !== before", arg=before)


def test_pitfall_6_no_canvas_is_larger_than_what_is_seen_at_any_page_zoom(
    million: Page, tree: CallTree, zoomable: Callable[[float], dict[str, int]]
) -> None:
    go(million, f=address_of(path_of(tree, deepest(tree))))
    for times in (1.5, 2, 0.8, 1):
        room = zoomable(times)

        million.wait_for_function(f"() => ({CANVASES})().every(([x, y]) => Math.abs(x) < 1 && Math.abs(y) < 1)")
        seen = million.evaluate(CANVASES)
        assert len(seen) == 2
        assert all(width <= room["width"] and height <= room["height"] for _, _, width, height in seen), times


def test_pitfall_13_a_zoom_drops_no_frame(million: Page, browser: Browser, tree: CallTree) -> None:
    go(million)
    search(million, PATTERNS[0])
    box = million.locator("#graph .graph-screen").bounding_box()
    assert box
    worst = []
    for down in (3, 0, 6, 0, 8, 0):  # into the widest frame of a row, and out to all
        browser.start_tracing(page=million, categories=["devtools.timeline"])
        million.mouse.click(box["x"] + 20, box["y"] + 20 * down + 10)
        million.evaluate(LOOK)
        worst.append(max(script_by_frame(browser.stop_tracing())))

    assert float(np.median(worst)) < SCRIPT_MS, worst


def script_by_frame(trace: bytes) -> list[float]:
    """Milliseconds of script in each animation frame. Of the processor: other programs of the machine don't count."""
    events = [each for each in json.loads(trace)["traceEvents"] if each["name"] == "FireAnimationFrame"]
    events.sort(key=lambda each: each["ts"])
    assert len(events) > 3, "no animation was seen"
    took = [events[0]["tdur"] / 1000]
    for last, each in pairwise(events):
        is_same = each["ts"] - last["ts"] - last["dur"] < 1000
        took[-1:] = [took[-1] + each["tdur"] / 1000] if is_same else [took[-1], each["tdur"] / 1000]
    return took


def test_pitfall_13_the_frame_under_the_pointer_is_picked_at_once(million: Page) -> None:
    go(million)

    took_ms, found = million.evaluate(PICKS)

    assert found > 100
    assert took_ms < PICK_MS


def test_pitfall_13_a_plain_wheel_scrolls_and_zooms_nothing(million: Page) -> None:
    go(million)
    tree = million.locator("#graph-tree")
    tree.hover()
    tree.evaluate("box => (box.scrollTop = 0)")

    million.mouse.wheel(0, 700)

    million.wait_for_function("() => document.querySelector('#graph-tree').scrollTop >= 500")
    assert "&x=" not in million.url
    expect_zoomed(million, [])


def test_pitfalls_15_and_18_the_first_paint_waits_for_no_worker_and_marks_follow_what_is_seen(
    opened: BrowserContext, run: str
) -> None:
    page = opened.new_page()
    held: list[Route] = []
    page.route("**/js/worker*.js", lambda route: held.append(route))
    page.add_init_script(WATCH)
    page.goto(run)
    page.wait_for_function(f"() => ({FIRST})('viewer-ready') !== null")

    marks = page.evaluate(MARKS)
    assert page.evaluate(FIRST, "viewer-worker-functions") is None
    assert marks["viewer-ready"][0] == FRAMES + 1
    assert all(frames >= 2 for _, frames in marks.values()), marks
    held[0].continue_()
    wait_until_drawn(page)
    page.close()


def test_pitfall_15_the_table_is_added_up_after_the_first_paint(million: Page) -> None:
    overview, ready, functions = [
        million.evaluate(FIRST, name) for name in ("viewer-overview", "viewer-ready", "viewer-worker-functions")
    ]
    assert 0 < overview < ready < functions


def test_pitfall_16_pages_opened_in_turn_hold_no_more_than_one(million: Page, run: str) -> None:
    first = held_bytes(million)
    for _ in range(3):
        million.goto("/help/reading")
        million.goto(run)
        wait_until_drawn(million)

    assert held_bytes(million) < 2 * first
    assert len(million.workers) == 1


def table_row(page: Page, function: str) -> list[str]:
    page.locator("[data-part=filter]").fill(function)
    row = page.locator("[data-part=functions] tbody tr", has=page.get_by_title(function, exact=True))
    return [text.strip() for text in row.locator("td.n").all_text_contents()]


def test_table_and_sandwich_have_one_total_of_a_function(million: Page, tree: CallTree, function: str) -> None:
    total, own = total_by_function(tree)[function], self_by_function(tree)[function]
    go(million)
    all_bytes = tree.total(0)

    assert table_row(million, function) == [
        value(own),
        percent(own / all_bytes),
        value(total),
        percent(total / all_bytes),
    ]
    go(million, view="sandwich", fn=quote(function, safe=""))
    callers = million.locator("#callers-tree [aria-level='1']")
    assert million.evaluate(TREE)[1] == total
    expect(callers).to_contain_text(f"{function}, total {value(total)}")
    assert million.evaluate(ELEMENTS) < 2000


def test_bottom_up_begins_with_exactly_what_each_function_holds_itself(million: Page, tree: CallTree) -> None:
    go(million, view="bottom-up")

    assert million.evaluate(TREE)[1] == tree.total(0)
    assert million.evaluate(ROOTS) == self_by_function(tree)


def test_a_hidden_function_leaves_the_total_as_it_is(million: Page, tree: CallTree, function: str) -> None:
    go(million, steps=f"hide-function:{quote(function, safe='')}")

    assert million.evaluate(TREE)[1] == tree.total(0)
    assert million.evaluate(COUNT, function) == 0
    assert table_row(million, function) == []
