"""The whole job on a run page without a mouse, and where the focus goes; menus by the right button, and touch."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.site_fixture import LiveSite, Story
from tests.uploads import uploaded

pytestmark = [pytest.mark.browser, pytest.mark.first_half]

FOLDED = """main;serve;app::parse;std::vec::grow;malloc 700
main;serve;app::parse;app::row 100
main;load;app::parse;std::vec::grow;malloc 50
main;load;walk;walk;walk;leaf 150
"""
FOCUSED = "() => document.activeElement.id || document.activeElement.dataset.part || document.activeElement.tagName"
TREE_OF = """id => {
  const tree = document.getElementById(id);
  const active = document.getElementById(tree.getAttribute("aria-activedescendant"));
  const items = [...tree.querySelectorAll("[role=treeitem]")];
  return { active: active.textContent, isInside: items.includes(active), items: items.length };
}"""


@pytest.fixture(scope="module")
def site(site_of_files: tuple[LiveSite, Story]) -> tuple[LiveSite, Story]:
    return site_of_files


@pytest.fixture(scope="module")
def run_address(site: tuple[LiveSite, Story]) -> str:
    return f"/runs/{uploaded(*site, FOLDED)}"


@pytest.fixture
def run(alice: Page, run_address: str) -> Page:
    _open(alice, run_address)
    alice.locator("#graph-tree").focus()
    return alice


def _open(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("html[data-viewer=ready]")


def _press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def _selected(page: Page) -> str:
    return page.locator("#graph").get_attribute("data-selected") or ""


def _expect_focus(page: Page, where: str) -> None:
    page.wait_for_function(f"where => ({FOCUSED})() === where", arg=where)


def test_the_way_to_the_cause_is_walked_zoomed_and_searched_by_keys(run: Page) -> None:
    _press(run, "ArrowDown", "ArrowDown", "ArrowDown")
    assert _selected(run) == "app::parse"
    _press(run, "Enter")
    expect(run.locator("#graph")).to_have_attribute("data-zoom-path", "main;serve;app::parse")
    _press(run, "Escape", "Home")
    expect(run.locator("#graph")).to_have_attribute("data-zoom-path", "")

    _press(run, "/")
    _expect_focus(run, "search")
    run.keyboard.type("::row|leaf")
    expect(run.locator("[data-part=matched]")).to_contain_text("25.0")
    _press(run, "Enter")
    found = _selected(run)
    run.keyboard.press("Control+a")
    run.keyboard.press("Delete")
    run.keyboard.type("::row|leaf")
    expect(run.locator("[data-part=matched]")).to_contain_text("25.0")
    run.locator("#graph-tree").focus()
    _press(run, "n")
    assert _selected(run) != found
    _press(run, "N")
    assert _selected(run) == found
    _press(run, "k")
    expect(run.locator("[data-part=path]")).to_contain_text("only stacks that match ::row|leaf")
    _press(run, "u")
    expect(run.locator("[data-part=path]")).not_to_contain_text("only stacks that match")
    _expect_focus(run, "graph-tree")


def test_every_view_is_reached_by_a_key_told_in_words_and_keeps_the_focus(run: Page) -> None:
    told = run.locator("[data-part=spoken]")
    for key, title in (("l", "Flame"), ("b", "Bottom-up"), ("i", "Icicle")):
        _press(run, key)
        expect(told).to_contain_text(f"{title}: ")
        _expect_focus(run, "graph-tree")

    _press(run, "t")
    expect(told).to_contain_text("List: ")
    assert run.evaluate("document.activeElement.getAttribute('aria-label')") == "Frames as a list"
    _press(run, "ArrowDown", "ArrowDown", "Enter")
    expect(run.locator("[data-part=list] tr.sel")).to_have_count(1)
    assert run.evaluate("document.activeElement.className") == "rowlink"
    _press(run, "s")
    expect(told).to_contain_text("Sandwich: ")
    _expect_focus(run, "graph-tree")


def test_a_sandwich_has_two_trees_for_a_screen_reader_and_the_focus_survives_its_end(run: Page) -> None:
    _press(run, "ArrowDown", "ArrowDown", "ArrowDown", "s")
    expect(run.locator("[data-part=callers]")).to_be_visible()
    run.locator("#callers-tree").focus()
    _press(run, "ArrowUp")

    for tree, name in (("callers-tree", "serve"), ("graph-tree", "app::parse")):
        seen = run.evaluate(TREE_OF, tree)
        assert name in seen["active"] and seen["isInside"], tree
    _press(run, "b")
    expect(run.locator("[data-part=callers]")).to_be_hidden()
    _expect_focus(run, "graph-tree")


def test_menus_open_by_keys_are_walked_by_arrows_and_give_the_focus_back(run: Page) -> None:
    _press(run, "ArrowDown", "ArrowDown", "a")
    expect(run.locator("[data-part=frame-menu] [data-action]").first).to_be_focused()
    _press(run, "ArrowDown")
    expect(run.locator("[data-part=frame-menu] [data-action]").nth(1)).to_be_focused()
    _press(run, "Escape")
    _expect_focus(run, "graph-tree")
    expect(run.locator("#graph")).to_have_attribute("data-selected", "serve")

    _press(run, "a", "ArrowUp", "Enter")
    expect(run.locator("[data-part=path]")).to_contain_text("merged by module")
    _expect_focus(run, "graph-tree")
    for key, menu in (("o", "steps"), ("e", "save"), ("w", "reading-menu")):
        _press(run, key)
        expect(run.locator(f"[data-part={menu}]")).to_have_attribute("open", "")
        _press(run, "Escape")
        expect(run.locator(f"[data-part={menu}]")).not_to_have_attribute("open", "")
        _expect_focus(run, "graph-tree")


def test_only_my_code_is_a_step_by_an_expression_or_a_name_of_the_project(run: Page, run_address: str) -> None:
    _press(run, "o")
    run.keyboard.type("^app::")
    _press(run, "Enter")
    expect(run.locator("[data-part=path]")).to_contain_text("only ^app::")
    expect(run.locator("#graph")).to_have_attribute("data-nodes", "3")

    run.goto("/p/shop/settings#own-code")
    form = run.locator("#own-code form").last
    form.get_by_label("Name").fill("our services")
    form.get_by_label("Regular expression").fill("^(app|walk)")
    form.get_by_role("button", name="Add").click()
    _open(run, run_address)
    run.locator("#graph-tree").focus()
    _press(run, "o")
    run.get_by_role("button", name="Only our services").click()
    expect(run.locator("[data-part=path]")).to_contain_text("only our services")
    assert "our%20services" in run.url


def test_copying_saving_colours_and_the_table_need_no_mouse(run: Page) -> None:
    _press(run, "ArrowDown", "ArrowDown", "Y")
    run.wait_for_function("async () => (await navigator.clipboard.readText()) === 'main;serve'")
    _press(run, "y")
    run.wait_for_function("async () => (await navigator.clipboard.readText()).includes('#')")
    _press(run, "e")
    with run.expect_download() as download:
        _press(run, "Enter")
    assert download.value.suggested_filename.endswith(".svg")

    _expect_focus(run, "graph-tree")
    _press(run, "c")
    _expect_focus(run, "colour")
    run.locator("#graph-tree").focus()
    _press(run, "g")
    run.keyboard.type("app")
    expect(run.locator("[data-part=functions] tbody tr")).to_have_count(2)
    run.locator("[data-part=functions] th .sort", has_text="Total").focus()
    _press(run, "Enter")
    expect(run.locator("[data-part=functions] th", has_text="Total")).to_have_attribute("aria-sort", "descending")
    expect(run.locator("[data-part=functions] th .sort", has_text="Total")).to_be_focused()


def test_the_list_of_keys_opens_and_gives_the_focus_back(run: Page) -> None:
    _press(run, "?")

    expect(run.locator("[data-part=keys]")).to_contain_text("zoom to the selected frame")
    _press(run, "Escape")
    expect(run.locator("[data-part=keys]")).to_be_hidden()
    _expect_focus(run, "graph-tree")


def test_the_right_button_opens_the_menu_of_the_frame_under_it_inside_of_the_window(run: Page) -> None:
    run.set_viewport_size({"width": 700, "height": 420})
    box = run.evaluate("window.memflame.frameRect('std::vec::grow')")

    run.mouse.click(box["x"] + box["w"] - 2, box["y"] + 4, button="right")

    menu = run.locator("[data-part=frame-menu] > div")
    expect(menu).to_be_visible()
    expect(run.locator("[data-part=selected] .code")).to_have_text("std::vec::grow")
    edge = menu.bounding_box()
    assert edge and edge["x"] >= 0 and edge["x"] + edge["width"] <= 700 and edge["y"] + edge["height"] <= 420
    run.mouse.click(5, 5)
    expect(menu).to_be_hidden()


@pytest.fixture
def phone(browser: Browser, site: tuple[LiveSite, Story], alice: Page) -> Iterator[Page]:
    """A touch screen of 360 px on which Alice is signed in."""
    context = browser.new_context(
        base_url=site[0].url,
        viewport={"width": 360, "height": 740},
        has_touch=True,
        is_mobile=True,
        storage_state=alice.context.storage_state(),
    )
    yield context.new_page()
    context.close()


def test_the_first_tap_selects_and_the_second_zooms(phone: Page, run_address: str) -> None:
    _open(phone, run_address)
    box = phone.evaluate("window.memflame.frameRect('serve')")

    phone.touchscreen.tap(box["x"] + 30, box["y"] + 8)
    expect(phone.locator("[data-part=selected] .code")).to_have_text("serve")
    assert phone.locator("#graph").get_attribute("data-zoom-path") == ""

    box = phone.evaluate("window.memflame.frameRect('serve')")
    phone.touchscreen.tap(box["x"] + 30, box["y"] + 8)
    expect(phone.locator("#graph")).to_have_attribute("data-zoom-path", "main;serve")
    assert phone.evaluate("document.documentElement.scrollWidth") == 360
