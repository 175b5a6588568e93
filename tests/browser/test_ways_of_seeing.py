"""The page of a graph as people set their screens: by touch, zoomed, narrow, with more contrast, without movement."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.site_fixture import ROOT, LiveSite, Story
from tests.uploads import uploaded

pytestmark = pytest.mark.browser

AXE = ROOT / "tests" / "peers" / "node_modules" / "axe-core" / "axe.min.js"
FOLDED = """main;serve;app::parse;std::vec::grow;malloc 700
main;serve;app::parse;app::row 100
main;load;app::parse;std::vec::grow;malloc 50
main;load;walk;walk;walk;leaf 150
"""
AS_USUAL: dict[str, Any] = {"contrast": "no-preference", "forced_colors": "none"}
LOOKS: list[dict[str, Any]] = [{"contrast": "more"}, {"forced_colors": "active"}]
THEMES: list[Any] = ["light", "dark"]
NAMES = ["main", "serve", "load", "walk", "leaf", "std::vec::grow", "app::row"]
AXE_SAYS = """async (rules) => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"], rules });
  return violations.flatMap(({ id, nodes }) => nodes.map((each) => `${id}: ${each.html} ${each.failureSummary}`));
}"""
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Controls that can't be pressed where they are drawn, once the page was scrolled to them.
OUT_OF_REACH = """() => {
  const controls = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")];
  const isReached = (control) => {
    control.focus(); // what skips to the content is seen then only
    control.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
    const { left, right, top, bottom } = control.getBoundingClientRect();
    if (left < -1 || right > innerWidth + 1) return false;
    const at = document.elementFromPoint((left + right) / 2, Math.min(bottom - 1, (Math.max(0, top) + bottom) / 2));
    return control.contains(at) || at?.closest("label")?.contains(control);
  };
  const seen = controls.filter((each) => !each.disabled && each.checkVisibility({ visibilityProperty: true })
    && each.getBoundingClientRect().width > 1);
  return [seen.length, seen.filter((each) => !isReached(each)).map((each) => each.outerHTML.slice(0, 200))];
}"""
# The colour, red to opaque, of a pixel of the screen: so many to the right of a point of the window.
PIXEL = """([x, y, further]) => {
  const canvas = document.querySelector("#graph .graph-screen canvas");
  const edge = canvas.getBoundingClientRect();
  const [at, down] = [(x - edge.left) * devicePixelRatio, (y - edge.top) * devicePixelRatio].map(Math.round);
  const copy = new OffscreenCanvas(1, 1).getContext("2d");
  copy.drawImage(canvas, at + further, down, 1, 1, 0, 0, 1, 1);
  return [...copy.getImageData(0, 0, 1, 1).data];
}"""
IS_SHARP = """() => {
  const canvas = document.querySelector("#graph .graph-screen canvas");
  const { width, height } = canvas.getBoundingClientRect();
  const isAs = (pixels, size) => Math.abs(pixels - size * devicePixelRatio) < 1;
  return isAs(canvas.width, width) && isAs(canvas.height, height);
}"""
# Clicks, and tells how wide the frame is in the next frame of the browser.
ZOOMED_AT_ONCE = """async ([name, x, y]) => {
  const screen = document.querySelector("#graph .graph-screen");
  screen.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: x, clientY: y }));
  await new Promise(requestAnimationFrame);
  return memflame.frameRect(name).w / screen.clientWidth;
}"""


@pytest.fixture(scope="module")
def site(site_of_files: tuple[LiveSite, Story]) -> tuple[LiveSite, Story]:
    return site_of_files


@pytest.fixture(scope="module")
def address(site: tuple[LiveSite, Story]) -> str:
    return f"/runs/{uploaded(*site, FOLDED)}"


@pytest.fixture
def run(alice: Page, address: str) -> Page:
    shown(alice, address)
    return alice


@pytest.fixture
def phone(browser: Browser, site: tuple[LiveSite, Story], alice: Page, address: str) -> Iterator[Page]:
    """A touch screen of 360 px with the run on it."""
    options: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    context = browser.new_context(base_url=site[0].url, storage_state=alice.context.storage_state(), **options)
    page = context.new_page()
    shown(page, address)
    yield page
    context.close()


@pytest.fixture
def screen(run: Page) -> Iterator[Callable[..., None]]:
    """Gives the window another size in CSS pixels, and the screen another scale."""
    devtools = run.context.new_cdp_session(run)

    def be(width: int, height: int, scale: float) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        devtools.send("Emulation.setDeviceMetricsOverride", size)
        devtools.send("Page.captureScreenshot")  # pages hear of another scale when they are seen only

    yield be


def shown(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("html[data-viewer=ready]")


def box_of(page: Page, name: str) -> dict[str, float]:
    """Where the widest frame of that name is in the window."""
    box: dict[str, float] = page.evaluate("name => memflame.frameRect(name)", name)
    return box


def middle_of(page: Page, name: str) -> tuple[float, float]:
    box = box_of(page, name)
    return box["x"] + box["w"] / 2, box["y"] + box["h"] / 2


def touch(devtools: CDPSession, kind: str, *points: tuple[float, float]) -> None:
    touches = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
    devtools.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": touches})


def violations(page: Page, *, are_colours_forced: bool = False) -> list[str]:
    """Forced colours are the system's; axe reads those that the page would have."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(Path(AXE).read_text())
    found: list[str] = page.evaluate(AXE_SAYS, {"color-contrast": {"enabled": not are_colours_forced}})
    return found


def expect_in_reach(page: Page) -> None:
    seen, out_of_reach = page.evaluate(OUT_OF_REACH)
    assert seen > 20
    assert out_of_reach == []
    assert page.evaluate(SIDEWAYS) <= 0


def test_a_long_touch_opens_the_menu_of_the_frame_and_lifting_the_finger_presses_nothing(phone: Page) -> None:
    devtools = phone.context.new_cdp_session(phone)
    menu = phone.locator("[data-part=frame-menu] > div")

    touch(devtools, "Start", middle_of(phone, "serve"))
    expect(menu).to_be_visible()
    expect(phone.locator("[data-part=selected] .code")).to_have_text("serve")
    box = menu.bounding_box()
    assert box and box["x"] >= 8 and box["x"] + box["width"] <= 352, "it needs all of the window"
    touch(devtools, "End")

    expect(menu).to_be_visible()
    expect(phone.get_by_role("radio", name="Icicle")).to_be_checked()
    menu.locator("[data-action=focus-function]").tap()
    expect(phone.locator("[data-part=path]")).to_contain_text("only serve")
    expect(phone.locator("#graph")).to_have_attribute("data-zoom-path", "")


def test_a_finger_that_moves_on_scrolls_and_opens_no_menu(phone: Page) -> None:
    devtools = phone.context.new_cdp_session(phone)
    x, y = middle_of(phone, "serve")

    touch(devtools, "Start", (x, y))
    for step in range(1, 12):
        touch(devtools, "Move", (x, y - 15 * step))
    phone.wait_for_function("() => scrollY > 0")
    touch(devtools, "End")

    phone.evaluate("() => new Promise((done) => setTimeout(done, 600))")
    expect(phone.locator("[data-part=frame-menu] > div")).to_be_hidden()


def test_two_fingers_zoom_around_what_is_between_them(phone: Page) -> None:
    devtools = phone.context.new_cdp_session(phone)
    x, y = middle_of(phone, "serve")
    before = box_of(phone, "serve")["w"]

    touch(devtools, "Start", (x - 20, y), (x + 20, y))
    for step in range(1, 9):
        touch(devtools, "Move", (x - 20 - 5 * step, y), (x + 20 + 5 * step, y))
    phone.wait_for_function("before => location.hash.includes('x=') || memflame.frameRect('load') === null", arg=before)
    touch(devtools, "End")

    assert phone.evaluate("([x, y]) => memflame.frameAt(x, y)", [x, y]) > 0
    assert box_of(phone, "main")["w"] <= 360
    assert phone.evaluate("() => visualViewport.scale") == 1, "the page itself was zoomed"
    expect(phone.locator("[data-part=frame-menu] > div")).to_be_hidden()


def test_frames_have_borders_where_more_contrast_is_wanted(run: Page) -> None:
    for theme, look in itertools.product(THEMES, LOOKS):
        run.emulate_media(**AS_USUAL, color_scheme=theme)
        box = box_of(run, "serve")
        points = [[box["x"], box["y"] + 10, further] for further in (0, 2)]  # at its edge, and inside of it
        run.wait_for_function(f"points => new Set(points.map({PIXEL}).map(String)).size === 1", arg=points)

        run.emulate_media(**AS_USUAL | look, color_scheme=theme)

        run.wait_for_function(f"points => new Set(points.map({PIXEL}).map(String)).size === 2", arg=points)
        assert contrast_of(*(run.evaluate(PIXEL, point) for point in points)) >= 3, (theme, look)
        assert violations(run, are_colours_forced="forced_colors" in look) == [], (theme, look)


def contrast_of(one: list[int], other: list[int]) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(pixel: list[int]) -> float:
    parts = [part / 255 for part in pixel[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_at_200_per_cent_every_control_is_in_reach_and_nothing_scrolls_sideways(
    run: Page, screen: Callable[..., None]
) -> None:
    screen(720, 500, 2)
    run.wait_for_function(IS_SHARP)

    expect_in_reach(run)
    assert violations(run) == []


def test_at_360_pixels_every_control_is_in_reach_and_nothing_scrolls_sideways(phone: Page) -> None:
    expect_in_reach(phone)
    assert violations(phone) == []


def test_without_movement_a_zoom_is_there_in_the_next_frame(run: Page) -> None:
    run.emulate_media(reduced_motion="no-preference")
    assert run.evaluate(ZOOMED_AT_ONCE, ["load", *middle_of(run, "load")]) < 0.99, "with movement it takes a while"
    run.keyboard.press("Home")
    shown(run, run.url.split("#")[0])
    run.emulate_media(reduced_motion="reduce")

    assert run.evaluate(ZOOMED_AT_ONCE, ["load", *middle_of(run, "load")]) == pytest.approx(1, abs=0.002)


@pytest.mark.parametrize("scale", [1, 2])
def test_t49_frames_are_hit_where_they_are_drawn_at_every_page_zoom(
    run: Page, screen: Callable[..., None], scale: float
) -> None:
    for page_zoom in (0.8, 1, 1.5):
        screen(round(1440 / page_zoom), round(1000 / page_zoom), page_zoom * scale)
        run.wait_for_function(IS_SHARP)

        expect_hit_where_drawn(run)


def expect_hit_where_drawn(run: Page) -> None:
    for name in NAMES:
        box = box_of(run, name)
        for x in (box["x"] + 2, box["x"] + box["w"] / 2, box["x"] + box["w"] - 4):
            run.mouse.move(x, box["y"] + box["h"] / 2)
            expect(run.locator("#graph .tip.on .name")).to_have_text(name)
        assert opacity_of(run, [box["x"], box["y"] + 3, 0]) == 255, f"{name} is not drawn where it is hit"
        if box["x"] > box_of(run, "main")["x"] + 2:
            assert opacity_of(run, [box["x"], box["y"] + 3, -1]) == 0, f"{name} has no sharp gap to its left"


def opacity_of(page: Page, point: list[float]) -> int:
    pixel: list[int] = page.evaluate(PIXEL, point)
    return pixel[3]


def test_t49_a_window_moved_to_a_screen_of_another_scale_is_drawn_anew(run: Page, screen: Callable[..., None]) -> None:
    for scale in (1, 2, 1.25):
        screen(1440, 1000, scale)

        run.wait_for_function(IS_SHARP)
