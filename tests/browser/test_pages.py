"""What a browser shows that no other test sees: dropping a file, hostile names, keys, narrow windows."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.site_fixture import LiveSite, Story

pytestmark = pytest.mark.browser

HOSTILE = ["</script><img src=x onerror=alert(1)>", "\u202etxt.exe", "a&b<c>\"d'", "日本語🙂", "x" * 5000]
FOLDED = "".join(f"main;{name} {100 + number}\n" for number, name in enumerate(HOSTILE))

DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
}"""


def _drop(page: Page, name: str, text: str) -> None:
    """Drop a file onto the upload page, as from a file manager."""
    page.goto("/upload")
    page.wait_for_load_state("networkidle")
    page.evaluate(DROP, [name, text])


def _wait_until_drawn(page: Page) -> None:
    page.wait_for_selector("html[data-viewer=ready]")


def test_a_dropped_file_opens_at_once_as_a_private_preview_and_can_be_saved(signed_in: Page) -> None:
    page = signed_in

    _drop(page, "heap.folded", "main;load 300\nmain;serve;leak 700\n")

    page.wait_for_url("**/runs/r-*")
    expect(page.get_by_role("heading", name="A private preview")).to_be_visible()
    _wait_until_drawn(page)
    expect(page.locator("[data-part=functions] tbody tr").first).to_contain_text("leak")

    page.get_by_role("button", name="Save to project").click()

    expect(page.get_by_role("heading", name="A private preview")).to_have_count(0)
    expect(page.locator(".crumbs")).to_contain_text("Shop")


def test_a_dropped_file_that_is_no_profile_is_refused_in_words(signed_in: Page, complaints: Any) -> None:
    page = signed_in

    _drop(page, "notes.txt", "dear reader,\nthis is prose\n")

    expect(page.get_by_text("line 1 is 'dear reader,'")).to_be_visible()
    assert [line for line in complaints.lines if "status of 422" not in line] == []
    complaints.lines.clear()
    page.goto("/upload")
    expect(page.get_by_text("notes.txt")).to_have_count(0)


def test_hostile_frame_names_are_shown_as_text(signed_in: Page) -> None:
    page = signed_in

    _drop(page, "<img src=x onerror=alert(2)>.folded", FOLDED)

    page.wait_for_url("**/runs/r-*")
    _wait_until_drawn(page)
    expect(page.locator("[data-part=functions]")).to_contain_text(HOSTILE[0])
    assert page.locator("img").count() == 0
    page.get_by_label("Search frames").fill("<img")
    expect(page.locator("[data-part=matched]")).to_contain_text("1 frame")


def test_an_expression_that_is_none_is_searched_as_text_with_a_hint(signed_in: Page) -> None:
    page = signed_in
    _drop(page, "heap.folded", "main;operator[] 300\nmain;serve 700\n")
    page.wait_for_url("**/runs/r-*")
    _wait_until_drawn(page)

    page.get_by_label("Search frames").fill("operator[")

    expect(page.locator("[data-part=hint]")).to_be_visible()
    expect(page.locator("[data-part=matched]")).to_contain_text("30.0")


def test_the_graph_is_walked_by_keys(signed_in: Page) -> None:
    page = signed_in
    _drop(page, "heap.folded", "main;load 300\nmain;serve;leak 700\n")
    page.wait_for_url("**/runs/r-*")
    _wait_until_drawn(page)
    graph = page.locator("[data-part=graph]")

    page.locator("#graph-tree").focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(graph).to_have_attribute("data-zoom-path", "main;serve")

    page.keyboard.press("Escape")
    expect(graph).not_to_have_attribute("data-zoom-path", "main;serve")
    page.keyboard.press("/")
    expect(page.get_by_label("Search frames")).to_be_focused()


TYPES = ["outstanding_bytes", "outstanding_objects", "allocated_bytes", "allocated_objects"]
BANDS = [f"outstanding_bytes.{band}" for band in ("lt10s", "lt1m", "lt10m", "older")]
AGED = f"""# memflame-folded 1
# values: {" ".join(TYPES + BANDS)}
# capture: {{"collector": "malloc"}}
main;serve;leak 1000 4 2000 8 100 200 300 400
main;load 500 1 500 1 0 0 0 500
"""


@pytest.mark.parametrize("width", [360, 1440])
def test_bands_of_age_can_be_chosen_in_a_narrow_and_a_wide_window(signed_in: Page, width: int) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 900})
    _drop(page, "heap.folded", AGED)
    page.wait_for_url("**/runs/r-*")
    _wait_until_drawn(page)

    page.get_by_role("group", name="Outstanding bytes by age").get_by_text("10 s to 1 min").click()

    expect(page.get_by_role("radio", name="10 s to 1 min")).to_be_checked()
    expect(page.get_by_role("radio", name="Outstanding bytes")).not_to_be_checked()
    expect(page.locator("[data-part=meaning]")).to_contain_text("Bytes allocated 10 s to 1 min before the snapshot")
    expect(page.locator("[data-part=functions] tbody tr").first).to_contain_text("200 B")
    boxes = [radio.bounding_box() for radio in page.get_by_role("radiogroup", name="Value type").locator("label").all()]
    assert len(boxes) == len(TYPES + BANDS)
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_scrolls_sideways_on_a_phone(signed_in: Page, scheme: str, site: tuple[LiveSite, Story]) -> None:
    page, project = signed_in, site[1].project
    _drop(page, "heap.folded", FOLDED)
    page.wait_for_url("**/runs/r-*")
    run = page.url.rpartition("/")[2].partition("#")[0]
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 360, "height": 780})

    rooms = [f"/p/{project}/{room}" for room in ("", "record", "hosts", "compare", "settings", "upload")]
    for path in [*rooms, "/upload", f"/runs/{run}", f"/compare/{run}/{run}", "/api/docs", "/help/reading"]:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        widths = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert widths[0] <= widths[1], path


def test_a_theme_that_was_chosen_stays(signed_in: Page) -> None:
    page = signed_in
    page.emulate_media(color_scheme="light")
    page.goto("/upload")
    shade = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(shade)

    page.locator("summary", has_text="Account and theme").click()
    page.get_by_role("button", name="Theme: dark").click()

    assert page.evaluate(shade) != light
    page.reload()
    assert page.evaluate(shade) != light
    page.locator("summary", has_text="Account and theme").click()
    page.get_by_role("button", name="Theme: as the system").click()
    page.reload()
    assert page.evaluate(shade) == light
