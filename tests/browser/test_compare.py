"""A difference on its page: widths, numbers, two graphs beside each other, kinds of change as steps, and links."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.site_fixture import LiveSite, Story

pytestmark = pytest.mark.browser

HEAD = """# memflame-folded 1
# values: outstanding_bytes
# capture: {"collector": "malloc"}
"""
BEFORE = f"""{HEAD}main;serve;parse 4096
main;serve;gone 2048
main;load;cache 8192
"""
AFTER = f"""{HEAD}main;serve;parse 12288
main;serve;fresh 1024
main;load;cache 6144
"""
UPLOAD = """text => {
  const data = new DataTransfer();
  data.items.add(new File([text], "heap.folded"));
  document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
}"""
WIDTHS = """() => {
  const tree = window.memflame.tree();
  return Object.fromEntries([...tree.names].map((name, i) => [i ? tree.strings[name] : "all", tree.width[i]]));
}"""


@pytest.fixture(scope="module")
def site(site_of_files: tuple[LiveSite, Story]) -> tuple[LiveSite, Story]:
    return site_of_files


@pytest.fixture
def comparison(signed_in: Page) -> Page:
    """The page of BEFORE against AFTER."""
    before, after = _upload(signed_in, BEFORE), _upload(signed_in, AFTER)
    signed_in.goto(f"/compare/{before}/{after}")
    _wait_until_drawn(signed_in)
    return signed_in


def _upload(page: Page, folded: str) -> str:
    page.goto("/upload")
    page.wait_for_load_state("networkidle")
    page.evaluate(UPLOAD, folded)
    page.wait_for_url("**/runs/r-*")
    return page.url.rpartition("/")[2].partition("#")[0]


def _wait_until_drawn(page: Page) -> None:
    page.wait_for_selector("html[data-viewer=ready]")


def _widths(page: Page) -> dict[str, int]:
    _wait_until_drawn(page)
    found: dict[str, int] = page.evaluate(WIDTHS)
    return found


def test_widths_numbers_and_kinds_of_change_are_switched_and_linked(comparison: Page) -> None:
    assert _widths(comparison)["all"] == 12288 + 2048 + 1024 + 8192

    comparison.locator("[data-part=width]").select_option("after")

    expect(comparison.locator("[data-part=path]")).to_contain_text("What shrank or is gone, 4.0 kB, has no width here.")
    assert _widths(comparison)["gone"] == 0
    assert "w=after" in comparison.url

    legend = comparison.locator("[data-part=changes]")
    expect(legend.locator("[data-change=new]")).to_contain_text("1 path, +1.0 kB")
    expect(legend.locator("[data-change=shrunk]")).to_contain_text("1 path, −2.0 kB")
    legend.locator("[data-change=grown]").click()
    expect(comparison.locator("[data-part=path]")).to_contain_text("only what grew")
    assert _widths(comparison) == {"all": 12288, "main": 12288, "serve": 12288, "parse": 12288}
    expect(comparison.locator("[data-part=finding]")).to_contain_text("1 path is new (+1.0 kB), 1 is gone (−2.0 kB)")

    comparison.locator("[data-part=scale]").select_option("share")
    expect(comparison.locator("[data-part=finding]")).to_contain_text("points more of its side than before")
    expect(comparison.locator("[data-part=scale-reason]")).to_contain_text("Not per hour")

    link = comparison.url
    comparison.goto("about:blank")
    comparison.goto(link)
    _wait_until_drawn(comparison)
    expect(comparison.locator("[data-part=scale]")).to_have_value("share")
    expect(legend.locator("[data-change=grown]")).to_have_attribute("aria-pressed", "true")


def test_both_sides_stand_beside_each_other_and_follow_each_other(comparison: Page) -> None:
    comparison.locator("[data-part=two]").check()

    beside, graph = comparison.locator("[data-part=beside]"), comparison.locator("#graph")
    expect(beside).to_be_visible()
    expect(beside.locator("figcaption")).to_have_text("Before, 14.0 kB")
    expect(graph.locator("figcaption")).to_contain_text("After, 19.0 kB")

    beside.locator(".graph-box").focus()
    comparison.keyboard.press("ArrowDown")
    comparison.keyboard.press("ArrowDown")
    comparison.keyboard.press("Enter")

    expect(graph).to_have_attribute("data-selected", beside.get_attribute("data-selected") or "-")
    expect(graph).to_have_attribute("data-zoom-path", beside.get_attribute("data-zoom-path") or "-")
    assert graph.get_attribute("data-zoom-path") == "main;load"


def test_the_table_shows_one_kind_of_change(comparison: Page) -> None:
    comparison.locator("[data-part=kept]").select_option("gone")

    rows = comparison.locator("[data-part=functions] tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("gone")


def test_sides_that_do_not_compare_say_why_and_offer_no_dead_switches(signed_in: Page) -> None:
    before, after = _upload(signed_in, BEFORE), _upload(signed_in, "main;serve 7\n")

    signed_in.goto(f"/compare/{before}/{after}")

    expect(signed_in.get_by_role("heading", name="These two do not compare")).to_be_visible()
    expect(signed_in.get_by_text("The sides have no value type in common: outstanding_bytes before")).to_be_visible()
    for role in ("combobox", "radio", "tree", "table"):
        expect(signed_in.get_by_role(role)).to_have_count(0)  # type: ignore[arg-type] # a str is no Literal


def test_rules_match_what_was_built_again_and_link_and_files_carry_them(
    signed_in: Page, browser: Browser, tmp_path: Path
) -> None:
    before = _upload(signed_in, f"{HEAD}main;parse::h0123456789abcdef 4096\nmain;v1_run 100\n")
    after = _upload(signed_in, f"{HEAD}main;parse::hfedcba9876543210 8192\nmain;v2_run 100\n")
    signed_in.goto(f"/compare/{before}/{after}")
    _wait_until_drawn(signed_in)
    alignment = signed_in.locator("[data-part=alignment]")
    expect(alignment).to_contain_text("0 B and 0 B matched exactly, 4.1 kB and 8.1 kB not at all.")

    alignment.locator("summary").click()
    alignment.get_by_label("Hashes and suffixes of the compiler").check()
    alignment.get_by_role("button", name="Add a pattern of your own").click()
    alignment.get_by_label("Pattern of RE2").fill("v(\\d_")
    expect(alignment).to_contain_text("is no pattern that RE2 knows")
    alignment.get_by_label("Pattern of RE2").fill("^v\\d+_")
    expect(alignment).to_contain_text("4 names of 5 would change. Names on one side only: before 2 to 0, after 2 to 0.")
    alignment.get_by_role("button", name="Align by these rules").click()

    expect(alignment).to_contain_text("4.1 kB and 8.1 kB after rules that changed 4 names, 0 B and 0 B not at all.")
    expect(signed_in.locator("[data-part=finding]")).to_contain_text("parse holds 4.0 kB more than before")
    link = signed_in.url
    signed_in.goto("about:blank")
    signed_in.goto(link)
    _wait_until_drawn(signed_in)
    expect(alignment).to_contain_text("after rules that changed 4 names")

    signed_in.locator("[data-part=downloads] summary").click()
    signed_in.get_by_label("Scale before to the total of after").check()
    with signed_in.expect_download() as download:
        signed_in.locator("[data-form=folded]").click()
    lines = [line.split() for line in download.value.path().read_text().splitlines()]
    assert [line[0] for line in lines] == ["main;parse", "main;run"]
    assert sum(float(line[1]) for line in lines) == pytest.approx(8292)
    with signed_in.expect_download() as saved:
        signed_in.locator("[data-part=save] summary").click()
        signed_in.locator("[data-save=html]").click()
    saved.value.save_as(tmp_path / "difference.html")
    context = browser.new_context(offline=True)
    offline = context.new_page()
    offline.goto((tmp_path / "difference.html").as_uri())
    _wait_until_drawn(offline)
    expect(offline.locator("[data-part=finding]")).to_contain_text("parse holds 4.0\u00a0kB more than before")
    context.close()
