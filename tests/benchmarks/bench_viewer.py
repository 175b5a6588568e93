"""The run page in headless Chromium beside other viewers, of one generated profile: first picture, then what people do.

MEMFLAME_BENCH_NODES (10000,100000,1000000) and MEMFLAME_BENCH_REPEATS (5) say how much is done. A peer that took longer
than MEMFLAME_BENCH_PATIENCE seconds (20) once is not opened again.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, Error, sync_playwright

from tests.benchmarks.viewer_pages import Viewer, make_peers, served
from tests.benchmarks.viewer_profiles import call_tree
from tests.benchmarks.viewer_use import Opened, use
from tests.site_fixture import LiveSite, Story
from tests.stored_tree import stored

SIZES = [int(size) for size in os.environ.get("MEMFLAME_BENCH_NODES", "10000,100000,1000000").split(",")]
REPEATS = int(os.environ.get("MEMFLAME_BENCH_REPEATS", "5"))
PATIENCE_S = float(os.environ.get("MEMFLAME_BENCH_PATIENCE", "20"))
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--enable-precise-memory-info"]
LARGEST_TEXT = 500_000_000  # bytes; the browser has no longer strings
OURS, OVERVIEW = "memflame", "memflame, overview"
FIRST = """performance.getEntriesByName("viewer-overview")[0]?.startTime ?? 0"""


def main() -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        print("   Chromium is not installed")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = LiveSite(Path(folder) / "site")
        site.folder.mkdir()
        try:
            story = site.prepare()
            site.start()
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            for size in SIZES:
                measure(browser, site, story, size, Path(folder) / str(size))
            browser.close()
        finally:
            site.stop()


def measure(browser: Browser, site: LiveSite, story: Story, size: int, folder: Path) -> None:
    folder.mkdir()
    tree = call_tree(size)
    run = stored(site, story, tree, folder)
    peers = make_peers(folder, tree, LARGEST_TEXT)
    print(f"{size:,} nodes, {len(tree.names):,} names", flush=True)
    payloads(site, story, run)
    ours = Viewer(OURS, f"{site.url}/runs/{run}")
    with served(folder) as address:
        others = [Viewer(peer.name, f"{address}/{peer.address}", peer.seen) for peer in peers]
        first_pictures(Opened(browser, site, story), [ours, *others])
    use(Opened(browser, site, story), ours.address, tree)


def payloads(site: LiveSite, story: Story, run: str) -> None:
    """Bytes, and the time of an answer with all of HTTP and the session, of both stages."""
    with site.person(story) as person:
        snapshot = person.get(f"/api/v1/runs/{run}").json()["snapshots"][-1]
        tag = snapshot["tags"]["outstanding_bytes"][0]
        base = f"/runs/{run}/payload/{snapshot['seq']}/outstanding_bytes/{tag}"
        for stage in ("overview", "full"):
            took = []
            for _ in range(10):
                begin = time.perf_counter()
                with person.stream("GET", f"{base}/{stage}") as answer:
                    sent = sum(map(len, answer.iter_raw()))
                took.append(1000 * (time.perf_counter() - begin))
            print(f"   {stage:<9} {sent / 1000:8.1f} kB  {statistics.median(took):6.1f} ms with loopback", flush=True)


def first_pictures(opened: Opened, viewers: Sequence[Viewer]) -> None:
    took: dict[str, list[float]] = {}
    given_up: set[str] = set()
    for _ in range(REPEATS):  # one after the other in each round, so that load meets all alike
        for viewer in viewers:
            if viewer.name not in given_up and not note_first_picture(opened, viewer, took):
                given_up.add(viewer.name)
    whole, first = statistics.median(took[OURS]), statistics.median(took[OVERVIEW])
    for name, times in took.items():
        middle = statistics.median(times)
        ratios = f"{middle / whole:6.2f} of ours, {middle / first:6.2f} of its overview"
        print(f"   first picture {name:<20} {middle:7.0f} ms  {ratios}  ({len(times)} times)", flush=True)


def note_first_picture(opened: Opened, viewer: Viewer, took: dict[str, list[float]]) -> bool:
    """Whether it is worth to be opened again."""
    page = opened.page()
    try:
        seen = opened.seen(page, viewer.address, viewer.seen)
    except Error as error:
        print(f"   {viewer.name} did not draw it: {str(error)[:120]}", flush=True)
        return False
    finally:
        overview = float(page.evaluate(FIRST)) if viewer.name == OURS else 0
        page.context.close()
    took.setdefault(viewer.name, []).append(seen)
    if viewer.name == OURS:
        took.setdefault(OVERVIEW, []).append(overview)
    return seen < 1000 * PATIENCE_S or viewer.name == OURS


if __name__ == "__main__":
    main()
