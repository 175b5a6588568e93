"""Other projects' readers of pprof and speedscope files find the same stacks and totals in what we write."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from tracer import protocol
from tracer.profile import tree
from tracer.profile.export.diff_forms import DIFF_WRITERS, Difference
from tracer.profile.export.forms import FORMS
from tracer.profile.export.picture import Picture
from tracer.profile.export.source import Source
from tracer.profile.formats import read_profile
from tracer.profile.model import Profile

HERE = Path(__file__).parent
SPEEDSCOPE = HERE / "node_modules" / "speedscope" / "dist" / "release" / "index.html"
WITHIN_MS = 20_000
RUN = b"""# memflame-folded 1
# values: outstanding_bytes allocated_objects
main;serve;leak<int, std::string>(char const*) 700 7
main;serve;load 200 9007199254740993
main;start;main 100 1
"""
LATER = b"# memflame-folded 1\n# values: outstanding_bytes\nmain;serve;load 50\nmain;serve;new 300\n"

needs_peers = pytest.mark.skipif(
    os.environ.get("CI") != "true" and not (SPEEDSCOPE.exists() and shutil.which("node")),
    reason="the readers are not installed: `make test` installs them",
)


def read(raw: bytes) -> Profile:
    return read_profile(io.BytesIO(raw), resolve=protocol.value_type_named)


def exported(form: str) -> bytes:
    out = io.BytesIO()
    FORMS[form].write(Source(profile=read(RUN)), out, Picture())
    return out.getvalue()


def difference(form: str) -> bytes:
    before, after = tree.build(read(RUN)), tree.build(read(LATER))
    out = io.BytesIO()
    DIFF_WRITERS[form](Difference(tree.merge(before, after, "outstanding_bytes")), out, Picture())
    return out.getvalue()


def read_by_pprof_format(raw: bytes) -> dict[str, Any]:
    command = ["node", str(HERE / "sums.mjs")]
    found: dict[str, Any] = json.loads(subprocess.run(command, input=raw, capture_output=True, check=True).stdout)
    return found


@needs_peers
def test_pprof_format_finds_the_same_totals_and_stacks() -> None:
    found = read_by_pprof_format(exported("pprof"))

    assert found["types"] == ["outstanding_bytes/bytes", "allocated_objects/count"]
    assert found["sums"] == ["1000", str(9007199254740993 + 8)]
    assert found["stacks"]["main;serve;leak<int, std::string>(char const*)"] == ["700", "7"]
    assert found["first"] == "outstanding_bytes"


@needs_peers
def test_pprof_format_finds_what_shrank_below_0() -> None:
    found = read_by_pprof_format(difference("pprof"))

    assert found["sums"] == [str(350 - 1000), "1000", "350"]
    assert found["stacks"]["main;serve;load"] == ["-150", "200", "50"]


def tables_of_speedscope(files: list[bytes]) -> list[dict[str, tuple[str, str]]]:
    """Total and self by function, as its page shows them for the first profile of each file."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"],
        )
        found = [_table(browser, raw) for raw in files]
        browser.close()
    return found


def _table(browser: Any, raw: bytes) -> dict[str, tuple[str, str]]:
    page = browser.new_page()
    page.set_default_timeout(WITHIN_MS)
    page.goto(f"{SPEEDSCOPE.as_uri()}#localProfilePath=/dev/null")  # it waits to be given a file
    page.wait_for_function("() => globalThis.speedscope?.loadFileFromBase64")
    page.evaluate(
        "([name, data]) => speedscope.loadFileFromBase64(name, data)", ["run", base64.b64encode(raw).decode()]
    )
    page.get_by_text("Sandwich").click()
    page.wait_for_function("() => document.body.innerText.includes('(100%)')")
    rows = [row.locator("td").all_inner_texts() for row in page.locator("tr:has(td)").all()]
    page.close()
    return {name.strip(): (total.strip(), own.strip()) for total, own, name, *_ in rows if "%" in total}


@needs_peers
@pytest.mark.browser
def test_speedscope_shows_the_same_totals_of_both_our_forms() -> None:
    ours, pprof, after = tables_of_speedscope([exported("speedscope"), exported("pprof"), difference("speedscope")])

    assert ours == pprof
    assert ours["leak<int, std::string>(char const*)"] == ("700 B (70%)", "700 B (70%)")
    assert ours["main"] == ("1000 B (100%)", "100 B (10%)")
    assert ours["serve"][0] == "900 B (90%)"
    assert after["main"][0] == "350 B (100%)"
