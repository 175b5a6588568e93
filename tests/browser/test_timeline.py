"""The time line under a graph: brushes by mouse and keyboard, intervals of flows, links, and many snapshots."""

from __future__ import annotations

import re
from statistics import median

import httpx
import pytest
from playwright.sync_api import CDPSession, Page, Route, expect

from tests.site_fixture import LiveSite, Story

pytestmark = pytest.mark.browser

HEAD = '# memflame-folded 1\n# values: outstanding_bytes allocated_bytes\n# capture: {"collector": "malloc"}\n'
LAST = 6
MANY = 1000
WEAK = 500  # the snapshot of many whose capture lost half of the events
MOVES = 15
SCRIPT_WITHIN_MS = 16  # of one move of the brush, in the processor's time: one frame
MOST_ELEMENTS = 2_000
# Without asking again and again, which takes time of the page that is measured.
UNTIL_DRAWN = """name => new Promise((done) => {
  const look = () => {
    const { shown } = document.querySelector("[data-page=run]").dataset;
    if (shown !== name || document.documentElement.dataset.viewer !== "ready") return;
    observer.disconnect();
    done();
  };
  const observer = new MutationObserver(look);
  const attributeFilter = ["data-shown", "data-viewer"];
  observer.observe(document.documentElement, { attributes: true, subtree: true, attributeFilter });
  look();
})"""
# Rows of one snapshot as the ingest worker stored it, again and again: its files are shared, its totals rise.
COPIES = """
from webapp.runs.models import Payload, Run, Snapshot

run = Run.objects.get(run_id="{run_id}")
first = run.snapshots.get()
payloads = list(first.payloads.all())

def copied(row, **over):
    fields = (field for field in row._meta.concrete_fields if not field.primary_key)
    kept = {{field.attname: getattr(row, field.attname) for field in fields}}
    return type(row)(**kept | over)

def capture(seq):
    lost = {{"ring_full": 1000 + seq}} if seq == {weak} else {{}}
    return {{"collector": "malloc", "events": 1000 + seq, "lost": lost}}

Snapshot.objects.filter(pk=first.pk).update(capture=capture(1), elapsed_s=1.0)
Snapshot.objects.bulk_create(
    copied(first, seq=seq, elapsed_s=float(seq), capture=capture(seq),
           value_types=[row | {{"total": row["total"] + 7 * (seq % 90)}} for row in first.value_types])
    for seq in range(2, {many} + 1)
)
Payload.objects.bulk_create(
    copied(row, snapshot_id=snapshot.pk) for snapshot in run.snapshots.exclude(pk=first.pk) for row in payloads
)
"""


@pytest.fixture(scope="module")
def site(site_of_files: tuple[LiveSite, Story]) -> tuple[LiveSite, Story]:
    return site_of_files


def _api(site: LiveSite, story: Story) -> httpx.Client:
    headers = {"Authorization": f"Bearer {story.project_token}"}
    return httpx.Client(base_url=f"{site.url}/api/v1", headers=headers, timeout=120)


@pytest.fixture(scope="module")
def run_id(site: tuple[LiveSite, Story]) -> str:
    """Six files of one run: `grow` holds and allocates 100 more in each, but `shrink` allocated less in the last."""
    with _api(*site) as api:
        first = api.post("/projects/shop/uploads", params={"files": LAST, "file": "1"}, content=_folded(1)).json()
        for number in range(2, LAST + 1):
            api.put(f"/runs/{first['run']}/files/{number}", params={"file": f"{number}"}, content=_folded(number))
    run_id: str = first["run"]
    return run_id


def _folded(number: int) -> str:
    shrunk = 990 if number == LAST else 1000
    return f"{HEAD}main;grow {100 * number} {100 * number}\nmain;shrink 50 {shrunk}\n"


def _open(page: Page, address: str) -> None:
    page.goto(address)
    _wait_until_drawn(page)


def _wait_until_drawn(page: Page) -> None:
    page.wait_for_selector("html[data-viewer=ready]")


def _shown(page: Page, name: str) -> None:
    expect(page.locator("[data-page=run]")).to_have_attribute("data-shown", name)
    _wait_until_drawn(page)


def _total(page: Page) -> int:
    total: int = page.evaluate("() => window.memflame.tree().total[0]")
    return total


def _plotted(page: Page, run_id: str, value_type: str) -> list[int]:
    view = page.evaluate("async id => (await fetch(`/api/v1/runs/${id}`)).json()", run_id)
    return [snapshot["totals"][value_type] for snapshot in view["snapshots"]]


def test_the_brush_of_a_level_shows_its_snapshot_and_the_graph_has_the_plotted_total(
    signed_in: Page, run_id: str
) -> None:
    page = signed_in
    _open(page, f"/runs/{run_id}")
    plotted = _plotted(page, run_id, "outstanding_bytes")
    brush = page.get_by_role("slider", name="A: snapshot")
    expect(brush).to_have_attribute("aria-valuenow", str(LAST))
    assert _total(page) == plotted[-1]

    brush.focus()
    page.keyboard.press("ArrowLeft")
    _shown(page, f"outstanding_bytes@{LAST - 1}")
    assert _total(page) == plotted[-2]
    page.keyboard.press("Home")
    _shown(page, "outstanding_bytes@1")
    assert _total(page) == plotted[0]
    expect(brush).to_have_attribute("aria-valuetext", re.compile("150"))

    box = page.locator("[data-part=chart]").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.62, box["y"] + 50)
    _shown(page, "outstanding_bytes@4")
    expect(page.locator("[data-part=moment]")).to_contain_text("since the one before")


def test_a_window_on_a_flow_shows_what_happened_in_it_and_the_link_shows_it_again(signed_in: Page, run_id: str) -> None:
    page = signed_in
    _open(page, f"/runs/{run_id}#v=1&t=allocated_bytes&s=3")
    plotted = _plotted(page, run_id, "allocated_bytes")
    page.get_by_role("slider", name="A: since").focus()
    page.keyboard.press("ArrowRight")

    _shown(page, "allocated_bytes@1..3")
    assert _total(page) == plotted[2] - plotted[0] == 200
    expect(page.locator("[data-part=summary]")).to_contain_text("200")
    expect(page.locator("[data-part=path]")).to_contain_text("the whole interval")
    expect(page.locator("[data-part=functions]")).not_to_contain_text("shrink")

    page.locator("[data-part=downloads] summary").click()
    with page.expect_download() as download:
        page.locator("[data-form=folded]").click()
    assert download.value.path().read_text() == "main;grow 200\n"

    link = page.url
    assert "from=1" in link
    other = page.context.new_page()
    _open(other, link)
    _shown(other, "allocated_bytes@1..3")
    assert _total(other) == 200
    other.close()


def test_what_an_interval_has_below_zero_is_told(signed_in: Page, run_id: str) -> None:
    page = signed_in
    _open(page, f"/runs/{run_id}#v=1&t=allocated_bytes&s={LAST}&from={LAST - 1}")

    _shown(page, f"allocated_bytes@{LAST - 1}..{LAST}")
    expect(page.locator("[data-part=leftover]")).to_contain_text(
        "1 frame is below zero, −10".replace("1 f", "1\u00a0f")
    )
    assert _total(page) == 90


def test_two_brushes_lead_to_the_comparison_of_both(signed_in: Page, run_id: str) -> None:
    page = signed_in
    _open(page, f"/runs/{run_id}")
    page.get_by_role("button", name="Compare with another moment").click()
    page.get_by_role("slider", name="B: snapshot").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("slider", name="B: snapshot")).to_have_attribute("aria-valuenow", "2")
    assert "b=2" in page.url
    _shown(page, f"outstanding_bytes@{LAST}")

    page.get_by_role("link", name="Compare these two").click()

    page.wait_for_url(f"**/compare/{run_id}@2/{run_id}@{LAST}**")
    _wait_until_drawn(page)
    expect(page.locator("[data-part=change]")).to_contain_text("400")


def test_two_intervals_compare_as_what_happened_in_them(signed_in: Page, run_id: str) -> None:
    page = signed_in
    _open(page, f"/runs/{run_id}#v=1&t=allocated_bytes&s=5&from=3&b=1-2")
    _shown(page, "allocated_bytes@3..5")

    page.get_by_role("link", name="Compare these two").click()

    page.wait_for_url(f"**/compare/{run_id}@1..2/{run_id}@3..5**")
    _wait_until_drawn(page)
    expect(page.locator("[data-part=before-total]")).to_contain_text("100")
    expect(page.locator("[data-part=after-total]")).to_contain_text("200")


@pytest.fixture(scope="module")
def long_run_id(site: tuple[LiveSite, Story]) -> str:
    """A run of MANY small snapshots, a second from each other."""
    with _api(*site) as api:
        run_id: str = api.post("/projects/shop/uploads", content=_folded(1)).json()["run"]
    site[0].manage("shell", "-v0", "-c", COPIES.format(run_id=run_id, many=MANY, weak=WEAK))
    return run_id


def _script_ms(session: CDPSession) -> float:
    """What the page's scripts took until now, of the processor's time."""
    metrics = {row["name"]: row["value"] for row in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["ScriptDuration"] * 1000)


def test_the_brush_over_a_thousand_snapshots_moves_with_the_keys_within_a_frame(
    signed_in: Page, long_run_id: str
) -> None:
    page = signed_in
    _open(page, f"/runs/{long_run_id}")
    brush = page.get_by_role("slider", name="A: snapshot")
    expect(brush).to_have_attribute("aria-valuemax", str(MANY))
    brush.focus()
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    took = []
    for seq in range(MANY - 1, MANY - 1 - MOVES, -1):
        before = _script_ms(session)
        page.keyboard.press("ArrowLeft")
        page.evaluate(UNTIL_DRAWN, f"outstanding_bytes@{seq}")
        took.append(_script_ms(session) - before)

    assert 0 < median(took) <= SCRIPT_WITHIN_MS, took
    page.keyboard.press("PageDown")
    _shown(page, f"outstanding_bytes@{MANY - MOVES - 100}")
    page.keyboard.press("Home")
    _shown(page, "outstanding_bytes@1")
    assert page.evaluate("document.querySelectorAll('*').length") < MOST_ELEMENTS


def test_a_capture_that_is_being_loaded_shows_no_other_snapshots_words(signed_in: Page, long_run_id: str) -> None:
    page = signed_in
    strip, warnings = page.locator("[data-part=quality]"), page.locator("[data-part=warnings]")
    _open(page, f"/runs/{long_run_id}#v=1&s={WEAK}")
    expect(strip).to_contain_text("D, not reliable")
    expect(warnings.locator(".note")).to_be_visible()
    held: list[Route] = []
    page.route("**/capture", lambda route: held.append(route))

    page.get_by_role("slider", name="A: snapshot").focus()
    page.keyboard.press("ArrowLeft")

    expect(strip).to_have_text(f"Loading the capture of snapshot {WEAK - 1}…")
    expect(warnings).to_have_attribute("aria-busy", "true")
    _shown(page, f"outstanding_bytes@{WEAK - 1}")
    held.pop().continue_()
    expect(strip).to_contain_text("A, complete")
    expect(warnings.locator(".note")).to_have_count(0)
    page.keyboard.press("ArrowLeft")
    expect(strip).to_have_text(f"Loading the capture of snapshot {WEAK - 2}…")
    page.keyboard.press("End")  # the newest, whose capture came with the run
    expect(strip).to_contain_text("A, complete")
    expect(warnings).not_to_have_attribute("aria-busy", "true")
    held.pop().continue_()


def test_a_comparison_of_two_among_many_asks_for_their_captures_only(signed_in: Page, long_run_id: str) -> None:
    page = signed_in
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("/api/v1/runs/")[2]))

    _open(page, f"/compare/{long_run_id}@{WEAK}/{long_run_id}")

    expect(page.locator("[data-part=quality]")).to_contain_text("Captures D, not reliable and A, complete")
    assert [rest for rest in asked if rest] == [
        f"{long_run_id}?brief=true",
        f"{long_run_id}/snapshots/{WEAK}/capture",
    ]
