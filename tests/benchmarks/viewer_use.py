"""What people do on a run page to its cost: memory, searches, tables, other views, zooms and scrolling."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from playwright.sync_api import Browser, CDPSession, Page

from tests.benchmarks.viewer_pages import MARKED
from tests.site_fixture import LiveSite, Story
from tracer.profile.tree import CallTree

SEARCH = "reserve_rehash"
DEEP = 60
WAIT_MS = 120_000
READY = "html[data-viewer=ready]"
# What a frame of the browser takes, and the longest, while something moves.
FRAMES = """async (during) => {
  const gaps = [];
  let [last, from] = [performance.now(), performance.now()];
  while (last - from < during) {
    await new Promise(requestAnimationFrame);
    gaps.push(performance.now() - last);
    last = performance.now();
  }
  return { fps: (1000 * gaps.length) / (last - from), worst: Math.max(...gaps) };
}"""
# From a key until what it does was seen, in frames of this browser; the keys of the graph are those of its tree.
KEYED = """async (key) => {
  const frame = () => new Promise(requestAnimationFrame);
  await frame();
  const from = performance.now();
  document.querySelector("#graph-tree").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const script = performance.now() - from;
  await frame();
  await frame();
  return { script, seen: performance.now() - from };
}"""
_MEASURES = """Object.fromEntries(performance.getEntriesByType("measure").map((each) => [each.name, each.duration]))"""


@dataclass(frozen=True, slots=True)
class Opened:
    """Opens pages in browsers that have nothing in their caches."""

    browser: Browser
    site: LiveSite
    story: Story

    def page(self, **looks: Any) -> Page:
        context = self.browser.new_context(viewport={"width": 1600, "height": 900}, **looks)
        context.add_cookies([{"name": "sessionid", "value": self.story.session, "url": self.site.url}])
        return context.new_page()

    def seen(self, page: Page, address: str, promise: str = MARKED) -> float:
        """Asked over the protocol: waiting for a selector has Playwright read 330 kB of script into the page first."""
        devtools = page.context.new_cdp_session(page)
        page.goto(address, wait_until="commit", timeout=WAIT_MS)
        told = devtools.send(
            "Runtime.evaluate", {"expression": promise, "awaitPromise": True, "returnByValue": True, "timeout": WAIT_MS}
        )
        return float(told["result"]["value"])


def use(opened: Opened, address: str, tree: CallTree) -> None:
    page = opened.page()
    opened.seen(page, address)
    page.wait_for_selector(READY, timeout=WAIT_MS)
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    memory(page, devtools)
    search(page, devtools)
    other_views(page)
    deep_zoom(page, tree)
    motion(page)
    page.context.close()


def memory(page: Page, devtools: CDPSession) -> None:
    devtools.send("HeapProfiler.collectGarbage")
    heap = devtools.send("Runtime.getHeapUsage")
    held = (heap["usedSize"] + heap.get("backingStorageSize", 0)) / 1e6
    elements = page.evaluate("document.querySelectorAll('*').length")
    say(f"JS heap of the page {held:.1f} MB, of its Worker {worker_mb(devtools):.1f} MB; {elements} elements")


def worker_mb(devtools: CDPSession) -> float:
    """The session of a Worker hangs on that of its page; what it says comes as text in an event."""
    told: list[str] = []
    sessions: list[str] = []
    devtools.on("Target.attachedToTarget", lambda event: sessions.append(event["sessionId"]))
    devtools.on("Target.receivedMessageFromTarget", lambda event: told.append(event["message"]))
    devtools.send("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": False})
    return sum(heap_of(devtools, session, told) for session in sessions)


def heap_of(devtools: CDPSession, session: str, told: list[str]) -> float:
    for number, method in enumerate(("HeapProfiler.collectGarbage", "Runtime.getHeapUsage"), 1):
        message = json.dumps({"id": number, "method": method})
        devtools.send("Target.sendMessageToTarget", {"sessionId": session, "message": message})
    for _ in range(200):
        answers = [json.loads(text) for text in told]
        found = [each["result"] for each in answers if each.get("id") == 2 and "result" in each]
        if found:
            return float(found[-1]["usedSize"] + found[-1].get("backingStorageSize", 0)) / 1e6
        devtools.send("Runtime.evaluate", {"expression": "new Promise((r) => setTimeout(r, 20))", "awaitPromise": True})
    return float("nan")


def search(page: Page, devtools: CDPSession) -> None:
    before = script_ms(devtools)
    page.get_by_label("Search frames").fill(SEARCH)
    page.locator("[data-part=matched]", has_text="%").wait_for(timeout=WAIT_MS)
    spent = script_ms(devtools) - before
    say(f"search: {spent:.0f} ms of script, {page.locator('[data-part=matched]').inner_text()!r}")
    page.get_by_label("Search frames").fill("")


def script_ms(devtools: CDPSession) -> float:
    metrics = {each["name"]: each["value"] for each in devtools.send("Performance.getMetrics")["metrics"]}
    return 1000 * float(metrics["ScriptDuration"])


def other_views(page: Page) -> None:
    """Times of the Worker by what it was asked: the table with the page itself, others with their view."""
    say_measures("at first", page)
    for view in ("Icicle", "Sandwich", "Bottom-up", "Icicle"):
        page.evaluate("performance.clearMeasures()")
        page.locator("[data-part=view] label", has_text=view).click()
        page.wait_for_timeout(300)
        page.wait_for_selector(READY, timeout=WAIT_MS)
        say_measures(view, page)


def say_measures(when: str, page: Page) -> None:
    said = page.evaluate(_MEASURES)
    say(f"{when}: " + ", ".join(f"{name.removeprefix('viewer-')} {ms:.0f} ms" for name, ms in said.items()))


def deep_zoom(page: Page, tree: CallTree) -> None:
    """To the widest frame of depth 60 and out again, by the keys."""
    link = page.url.split("#")[0] + "#v=1&t=outstanding_bytes&sel=" + path_in_address(page, tree)
    page.emulate_media(reduced_motion="reduce")
    page.goto(link)
    page.wait_for_selector(READY, timeout=WAIT_MS)
    for words, key in (("zoom to depth 60", "Enter"), ("and out again", "Home")):
        took = page.evaluate(KEYED, key)
        say(f"{words}: {took['script']:.1f} ms of script, seen after {took['seen']:.0f} ms")
    page.emulate_media(reduced_motion="no-preference")


def path_in_address(page: Page, tree: CallTree) -> str:
    deep = np.flatnonzero(tree.depth == min(DEEP, int(tree.depth.max())))
    node = int(deep[np.argmax(tree.totals(0)[deep])])
    path = []
    while node:
        path.append(tree.names[tree.name[node]])
        node = int(tree.parent[node])
    written: str = page.evaluate("(path) => path.map(encodeURIComponent).join(';')", path[::-1])
    return written


def motion(page: Page) -> None:
    page.evaluate("document.querySelector('#graph-tree').focus()")
    page.locator("[data-part=functions] .rowlink").nth(3).click()
    say("a zoom, animated: {fps:.0f} frames a second, the longest {worst:.0f} ms".format(**page.evaluate(FRAMES, 600)))
    page.keyboard.press("Home")
    page.wait_for_timeout(500)
    page.locator("#graph .graph-screen").hover()
    page.evaluate(f"globalThis.moved = ({FRAMES})(1500)")
    for _ in range(60):
        page.mouse.wheel(0, 40)
    say("scrolling: {fps:.0f} frames a second, the longest {worst:.0f} ms".format(**page.evaluate("moved")))


def say(words: str) -> None:
    print(f"   {words}", flush=True)
