"""What a page of a browser holds."""

from __future__ import annotations

from playwright.sync_api import Page


def held_bytes(page: Page) -> float:
    """What the page's scripts hold, their arrays too."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.collectGarbage")
    heap = devtools.send("Runtime.getHeapUsage")
    return float(heap["usedSize"] + heap.get("backingStorageSize", 0))
