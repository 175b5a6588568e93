"""The run page in headless Chromium beside other viewers, of one generated profile: times, memory and bytes.

MEMFLAME_BENCH_NODES (10000,100000,1000000) and MEMFLAME_BENCH_REPEATS (5) say how much is done.
"""

from __future__ import annotations

import os
import pickle
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks.viewer_pages import make_peers, served
from tests.benchmarks.viewer_profiles import call_tree
from tests.site_fixture import LiveSite, Story
from tracer.profile.tree import CallTree

SIZES = [int(size) for size in os.environ.get("MEMFLAME_BENCH_NODES", "10000,100000,1000000").split(",")]
REPEATS = int(os.environ.get("MEMFLAME_BENCH_REPEATS", "5"))
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--enable-precise-memory-info"]
SEARCH = "reserve_rehash"
WAIT_MS = 120_000
# A run of one stack arrives as any does; its tree is then replaced by the generated one, as later symbols replace it.
REPLACE = """
import pickle
from pathlib import Path
from django.db import transaction
from webapp.runs import revisions
from webapp.runs.models import Snapshot
snapshot = Snapshot.objects.get(run__run_id="{run}")
call_tree = pickle.loads(Path("{tree}").read_bytes())
made = revisions.made(snapshot, call_tree, 2)
types = snapshot.value_types
types[0]["total"] = call_tree.total(0)
with transaction.atomic():
    revisions.keep(snapshot, made, [])
    Snapshot.objects.filter(pk=snapshot.pk).update(value_types=types, **made.fields)
"""
MARK = "name => performance.getEntriesByName(name)[0]?.startTime ?? 0"
FRAMES = """async () => {
  const gaps = [];
  let [last, from] = [performance.now(), performance.now()];
  while (last - from < 600) {
    await new Promise(requestAnimationFrame);
    gaps.push(performance.now() - last);
    last = performance.now();
  }
  return { fps: 1000 * gaps.length / (last - from), worst: Math.max(...gaps) };
}"""
WORKER = (
    """() => Object.fromEntries(performance.getEntriesByType("measure").map((each) => [each.name, each.duration]))"""
)


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
    peers = make_peers(folder, tree)
    print(f"{size:,} nodes, {len(tree.names):,} names", flush=True)
    payloads(site, story, run)
    with served(folder) as address:
        addresses = {name: f"{address}/{name}.{'svg' if name == 'flamegraph.pl' else 'html'}" for name in peers}
        first_paints(browser, site, story, run, addresses)
    inside(browser, site, story, run)


def stored(site: LiveSite, story: Story, tree: CallTree, folder: Path) -> str:
    """The id of a run whose tree is the generated one."""
    (folder / "tree.pickle").write_bytes(pickle.dumps(tree))
    with site.person(story) as person:
        head = {"Authorization": f"Bearer {story.project_token}"}
        text = b'# memflame-folded 1\n# values: outstanding_bytes\n# capture: {"collector":"malloc"}\nmain;f 16\n'
        answer = person.post(f"/api/v1/projects/{story.project}/uploads", content=text, headers=head, timeout=90)
        run = str(answer.json()["run"])
        site.wait_until(lambda: person.get(f"/api/v1/runs/{run}", headers=head).json()["state"] == "ready", 60)
    site.manage("shell", "-v0", "-c", REPLACE.format(run=run, tree=folder / "tree.pickle"))
    return run


def payloads(site: LiveSite, story: Story, run: str) -> None:
    with site.person(story) as person:
        view = person.get(f"/api/v1/runs/{run}").json()
        snapshot = view["snapshots"][-1]
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


def first_paints(browser: Browser, site: LiveSite, story: Story, run: str, peers: dict[str, str]) -> None:
    ours = f"{site.url}/runs/{run}"
    took: dict[str, list[float]] = {}
    for _ in range(REPEATS):  # one after the other in each round, so that load meets all alike
        for name, address in {"memflame": ours, **peers}.items():
            page = opened(browser, site, story, address)
            took.setdefault(name, []).append(page.evaluate(MARK, "viewer-ready") or loaded(page))
            if name == "memflame":
                took.setdefault("memflame, overview", []).append(page.evaluate(MARK, "viewer-overview"))
            page.context.close()
    whole = statistics.median(took["memflame"])
    for name, times in took.items():
        middle = statistics.median(times)
        print(f"   first complete paint {name:<20} {middle:7.0f} ms  {middle / whole:5.2f} of ours", flush=True)


def opened(browser: Browser, site: LiveSite, story: Story, address: str) -> Page:
    """In a browser without cache, once the graph has been seen."""
    context = browser.new_context(viewport={"width": 1600, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": story.session, "url": site.url}])
    page = context.new_page()
    page.goto(address)
    if not address.endswith(".svg"):
        page.wait_for_selector("html[data-viewer=ready]", timeout=WAIT_MS)
    return page


def loaded(page: Page) -> float:
    return float(page.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart"))


def inside(browser: Browser, site: LiveSite, story: Story, run: str) -> None:
    """What people do on the page once it is there."""
    page = opened(browser, site, story, f"{site.url}/runs/{run}")
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    devtools.send("HeapProfiler.collectGarbage")
    heap = devtools.send("Runtime.getHeapUsage")
    held = (heap["usedSize"] + heap.get("backingStorageSize", 0)) / 1e6
    print(f"   JS heap {held:.1f} MB, {page.evaluate('document.querySelectorAll(`*`).length')} elements", flush=True)
    before = script_ms(devtools)
    page.get_by_label("Search frames").fill(SEARCH)
    page.locator("[data-part=matched]", has_text="%").wait_for(timeout=WAIT_MS)
    matched = page.locator("[data-part=matched]").inner_text()
    print(f"   search: {script_ms(devtools) - before:.0f} ms of script: {matched!r}")
    page.locator("[data-part=view] label", has_text="Sandwich").click()
    page.wait_for_timeout(500)
    page.wait_for_selector("html[data-viewer=ready]", timeout=WAIT_MS)
    page.locator("[data-part=view] label", has_text="Icicle").click()
    page.wait_for_timeout(500)
    page.wait_for_selector("html[data-viewer=ready]", timeout=WAIT_MS)
    for name, duration in page.evaluate(WORKER):
        print(f"   {name:<24} {duration:7.0f} ms")
    page.locator("[data-part=functions] .rowlink").nth(3).click()
    frames: dict[str, Any] = page.evaluate(FRAMES)
    print(f"   zoom: {frames['fps']:.0f} frames a second, the longest {frames['worst']:.0f} ms", flush=True)
    page.context.close()


def script_ms(devtools: Any) -> float:
    metrics = {each["name"]: each["value"] for each in devtools.send("Performance.getMetrics")["metrics"]}
    return 1000 * float(metrics["ScriptDuration"])


if __name__ == "__main__":
    main()
