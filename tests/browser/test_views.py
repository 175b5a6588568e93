"""Views and steps of a graph: bottom-up, sandwich, what can be done with a frame, and their links."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.site_fixture import LiveSite, Story

pytestmark = pytest.mark.browser

FOLDED = """main;serve;app::parse;std::vec::grow;malloc 700
main;serve;app::parse;app::row 100
main;load;app::parse;std::vec::grow;malloc 50
main;load;walk;walk;walk;leaf 150
"""
DROP = """text => {
  const data = new DataTransfer();
  data.items.add(new File([text], "heap.folded"));
  document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
}"""
STACKS = """() => {
  const tree = window.memflame.tree();
  const path = [tree.header.root ?? ""];
  const found = {};
  for (let i = 1; i < tree.n; i++) {
    path[i] = [path[tree.parent[i]], tree.strings[tree.names[i]]].filter(Boolean).join(";");
    let self = tree.total[i];
    for (let c = tree.firstChild[i]; c < tree.firstChild[i + 1]; c++) self -= tree.total[c];
    if (self) found[path[i]] = self;
  }
  return found;
}"""


@pytest.fixture(scope="module")
def site(site_of_files: tuple[LiveSite, Story]) -> tuple[LiveSite, Story]:
    return site_of_files


@pytest.fixture
def run(signed_in: Page) -> Page:
    """The page of a run with FOLDED."""
    _open(signed_in, FOLDED)
    return signed_in


def _open(page: Page, folded: str) -> None:
    page.goto("/upload")
    page.wait_for_load_state("networkidle")
    page.evaluate(DROP, folded)
    page.wait_for_url("**/runs/r-*")
    _wait_until_drawn(page)


def _wait_until_drawn(page: Page) -> None:
    page.wait_for_selector("html[data-viewer=ready]")


def _stacks(page: Page) -> dict[str, int]:
    _wait_until_drawn(page)
    found: dict[str, int] = page.evaluate(STACKS)
    return found


def _choose_view(page: Page, view: str) -> None:
    page.locator("[data-part=view] label", has_text=view).click()


def _select(page: Page, name: str) -> None:
    """By the table: it zooms to the widest frame of the function and selects it."""
    page.locator("[data-part=functions] .rowlink", has_text=name).click()
    expect(page.locator("[data-part=selected] .code")).to_have_text(name)


def _do(page: Page, action: str) -> None:
    page.locator("[data-part=frame-menu] summary").click()
    page.locator(f"[data-action={action}]").click()


def test_bottom_up_begins_with_what_holds_the_memory(run: Page) -> None:
    _choose_view(run, "Bottom-up")

    assert _stacks(run) == {
        "std::vec::grow;app::parse;serve;main": 700,
        "std::vec::grow;app::parse;load;main": 50,
        "leaf;walk;walk;walk;load;main": 150,
        "app::row;app::parse;serve;main": 100,
    }


def test_a_sandwich_has_callers_above_and_callees_below(run: Page) -> None:
    _select(run, "app::parse")

    _do(run, "sandwich")

    assert _stacks(run) == {"app::parse;std::vec::grow": 750, "app::parse;app::row": 100}
    callers = run.locator("[data-part=callers]")
    expect(callers).to_be_visible()
    expect(callers).to_have_attribute("data-nodes", "5")
    expect(run.locator("[data-part=selected] .code")).to_have_text("app::parse")

    run.locator("[data-part=functions] .rowlink", has_text="leaf").click()
    assert _stacks(run) == {}
    expect(run.locator("[data-part=path]")).to_contain_text("leaf")


def test_steps_are_taken_and_taken_back_one_by_one(run: Page) -> None:
    _select(run, "std::vec::grow")
    _do(run, "hide-module")
    assert "main;serve;app::parse" in _stacks(run)
    _do(run, "recursion")
    stacks = _stacks(run)
    assert stacks["main;load;walk;leaf"] == 150
    chips = run.locator("[data-part=path] .chip", has=run.get_by_label("Take this step back"))
    expect(chips).to_have_count(2)

    chips.first.get_by_label("Take this step back").click()

    expect(chips).to_have_count(1)
    assert "main;serve;app::parse;std::vec::grow" in _stacks(run)
    assert sum(_stacks(run).values()) == 1000


def test_keys_do_what_the_menu_does(run: Page) -> None:
    _select(run, "walk")
    run.locator("#graph-tree").focus()

    run.keyboard.press("F")
    assert _stacks(run) == {"walk;walk;walk;leaf": 150}
    expect(run.locator("[data-part=path] .base")).to_contain_text("15.0")
    run.keyboard.press("r")
    assert _stacks(run) == {"walk;leaf": 150}
    run.keyboard.press("u")
    run.keyboard.press("u")
    run.keyboard.press("b")
    assert sum(_stacks(run).values()) == 1000
    expect(run.get_by_role("radio", name="Bottom-up")).to_be_checked()


def test_a_link_shows_the_same_view_with_the_same_steps(run: Page) -> None:
    _select(run, "app::parse")
    _do(run, "focus-function")
    _wait_until_drawn(run)
    _choose_view(run, "Bottom-up")
    shown = _stacks(run)
    run.get_by_label("Search frames").fill("::row")
    expect(run.locator("[data-part=matched]")).to_contain_text("11.8")

    other = run.context.new_page()
    other.goto(run.url)

    assert _stacks(other) == shown
    expect(other.locator("[data-part=matched]")).to_contain_text("11.8")
    expect(other.locator("[data-part=path]")).to_contain_text("only app::parse")
    other.close()


def test_a_link_to_a_frame_that_is_gone_says_so_and_shows_the_nearest_that_is_left(run: Page) -> None:
    page = run.context.new_page()
    page.goto(f"{run.url.split('#')[0]}#v=1&f=main;serve;old_name&t=no_such_type")
    _wait_until_drawn(page)

    expect(page.locator("[data-part=gone]")).to_contain_text("old_name is not in this graph. The nearest one above it")
    expect(page.locator("#graph")).to_have_attribute("data-zoom-path", "main;serve")
    expect(page.locator("[data-part=address-note]")).to_contain_text("no_such_type of the link is not in this run")
    page.close()


def test_back_and_forward_go_through_the_steps(run: Page) -> None:
    _select(run, "leaf")
    before = _stacks(run)
    run.locator("#graph-tree").focus()
    run.keyboard.press("x")
    assert sum(_stacks(run).values()) == 850

    run.go_back()

    run.wait_for_function("() => window.memflame.tree().total[0] === 1000")
    assert _stacks(run) == before


TYPES = ["outstanding_bytes", *(f"outstanding_bytes.{band}" for band in ("lt10s", "lt1m", "older"))]
AGED = f"""# memflame-folded 1
# values: {" ".join(TYPES)}
# capture: {{"collector": "malloc"}}
main;serve;leak 1000 100 200 700
main;load 500 450 50 0
"""
SHADE = "name => window.memflame.shadeOf(name)"


def test_colours_tell_the_age_of_bytes_and_young_ones_fade(signed_in: Page) -> None:
    page = signed_in
    _open(page, AGED)
    page.locator("[data-part=colour]").select_option("age")
    expect(page.locator("[data-part=legend-colours]")).to_contain_text(
        "the age that half of a frame's bytes have reached"
    )
    page.wait_for_function(f"({SHADE})('leak') !== ({SHADE})('load')")
    young = page.evaluate(SHADE, "load")

    page.locator("[data-part=youngest] input").fill("2")

    expect(page.locator("[data-part=youngest] output")).to_contain_text("1\u00a0min and older")
    page.wait_for_function(f"before => ({SHADE})('load') !== before", arg=young)
    assert "c=age" in page.url and "y=2" in page.url


def test_every_mode_of_colours_can_be_chosen_and_linked(run: Page) -> None:
    seen = set()
    for mode in ("memory", "warm", "module"):
        run.locator("[data-part=colour]").select_option(mode)
        seen.add(run.evaluate(SHADE, "app::parse"))
    assert len(seen) == 3

    other = run.context.new_page()
    other.goto(run.url)
    _wait_until_drawn(other)
    expect(other.locator("[data-part=colour]")).to_have_value("module")
    other.close()


def test_the_list_is_the_same_tree_as_text(run: Page) -> None:
    run.locator("#graph-tree").focus()
    run.keyboard.press("t")

    rows = run.locator("[data-part=list] tbody tr")
    expect(rows).to_have_count(13)
    expect(rows.nth(1)).to_contain_text("1,000")
    expect(run.locator("#graph-tree")).to_be_hidden()
    run.get_by_role("button", name="Copy as text").click()
    assert "app::row" in run.evaluate("navigator.clipboard.readText()")
    rows.last.locator("button").click()
    expect(run.locator("[data-part=list] tr.sel")).to_have_count(1)


def test_what_is_seen_is_saved_as_svg_and_png(run: Page) -> None:
    run.locator("[data-part=reading-menu] summary").click()
    run.locator("[data-part=marks]").check()
    for kind, first in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        run.locator("[data-part=save] summary").click()
        with run.expect_download() as download:
            run.locator(f"[data-save={kind}]").click()
        assert download.value.suggested_filename.endswith(f".{kind}")
        content = download.value.path().read_bytes()
        assert content.startswith(first)
        assert kind == "png" or b"app::parse" in content


def test_the_page_in_one_file_opens_at_what_was_seen(run: Page, browser: Browser, tmp_path: Path) -> None:
    _select(run, "app::parse")
    _do(run, "focus-function")
    _wait_until_drawn(run)
    _choose_view(run, "Bottom-up")
    run.get_by_label("Search frames").fill("::row")
    expect(run.locator("[data-part=matched]")).to_contain_text("11.8")
    shown = _stacks(run)
    run.locator("[data-part=save] summary").click()
    with run.expect_download() as download:
        run.locator("[data-save=html]").click()
    download.value.save_as(tmp_path / "page.html")

    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())

    assert _stacks(page) == shown
    expect(page.locator("[data-part=matched]")).to_contain_text("11.8")
    expect(page.locator("[data-part=path]")).to_contain_text("only app::parse")
    expect(page.get_by_role("radio", name="Bottom-up")).to_be_checked()
    context.close()


def test_a_frame_is_copied_for_a_review(run: Page) -> None:
    _select(run, "app::row")

    run.locator("[data-part=copy-markdown]").click()

    text = run.evaluate("navigator.clipboard.readText()")
    assert "**`app::row`**" in text and "| total |" in text and run.url.split("#")[0] in text
    expect(run.locator("[data-part=finding]")).to_contain_text("std::vec::grow")


def test_the_search_can_become_a_step(run: Page) -> None:
    run.get_by_label("Search frames").fill("::row$|leaf")
    run.locator("[data-part=steps] summary").click()
    run.get_by_role("button", name="Keep only").click()

    assert sum(_stacks(run).values()) == 250
    expect(run.locator("[data-part=path] .base")).to_contain_text("25.0")
