"""Pages of other viewers of the same profile, made with esbuild and served with gzip as our site serves its own."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.benchmarks.viewer_profiles import folded, nested, nested_set, timed
from tracer.profile.tree import CallTree

PEERS = Path(__file__).parent / "peers"
_PAGE = '<!doctype html><meta charset="utf-8"><div id="graph"></div><script type="module" src="{}"></script>'
_REACT_16 = ("--alias:react=react16", "--alias:react-dom=react-dom16")
ENTRIES: dict[str, tuple[str, ...]] = {
    "grafana.jsx": ("--jsx=automatic", "--alias:@grafana/assistant=./no-assistant.js"),
    "d3-flame-graph.js": (),
    "flame-chart-js.js": (),
    "react-flame-graph.js": _REACT_16,
}
# Promises of the moment, in ms since the navigation, at which the whole graph had been seen: as our page marks it, a
# double animation frame after it was drawn.
MARKED = """new Promise((resolve) => {
  const look = () => performance.getEntriesByName("viewer-ready")[0]?.startTime;
  new PerformanceObserver(() => look() && resolve(look())).observe({ type: "mark", buffered: true });
})"""
_SEEN = "requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))"
_LOADED = f"""new Promise((resolve) => {{
  const seen = () => {_SEEN};
  if (document.readyState === "complete") seen();
  else addEventListener("load", seen);
}})"""
_HAS_TABS = f"""new Promise((resolve) => {{
  const look = () => document.body?.innerText.includes("Left Heavy") ? {_SEEN} : requestAnimationFrame(look);
  look();
}})"""


@dataclass(frozen=True, slots=True)
class Viewer:
    """`seen` is an expression of JavaScript: a promise of when its graph had been seen."""

    name: str
    address: str
    seen: str = MARKED


def make_peers(folder: Path, tree: CallTree, largest_text: int) -> list[Viewer]:
    """Peers whose pages are in the folder now; addresses are below it. One of them can't read more text than that."""
    for name, data in (("columns", nested_set(tree)), ("nested", nested(tree)), ("timed", timed(tree))):
        _serve(folder / f"{name}.json", _json(data))
    _serve(folder / "blank.html", b'<!doctype html><script>performance.mark("viewer-ready")</script>')
    peers = [Viewer("a blank page", "blank.html")]
    peers += [viewer for entry, options in ENTRIES.items() if (viewer := _built(folder, entry, options))]
    text = "".join(folded(tree)).encode()
    if len(text) <= largest_text:
        peers += _speedscope(folder, text)
    if flamegraphs := os.environ.get("FLAMEGRAPH_DIR"):
        peers.append(_flamegraph_pl(folder, Path(flamegraphs), text))
    return peers


def _json(data: object) -> bytes:
    # The encoder in C gives up on objects 120 deep only if Python's own limit is lower than that.
    sys.setrecursionlimit(10_000)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def _serve(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content, 6))


def _built(folder: Path, entry: str, options: tuple[str, ...]) -> Viewer | None:
    esbuild, name = PEERS / "node_modules/.bin/esbuild", Path(entry).stem
    if not esbuild.exists():
        return None
    script = folder / f"{name}.js"
    words = [esbuild, entry, "--bundle", "--minify", "--format=esm", f"--outfile={script}", "--log-level=error"]
    words += ["--define:process.env.NODE_ENV='production'", "--loader:.svg=dataurl", "--loader:.ttf=empty", *options]
    done = subprocess.run(words, cwd=PEERS, capture_output=True, text=True)
    if done.returncode:
        print(f"   {name} was not built: {done.stderr[:300]}")
        return None
    _serve(script, script.read_bytes())
    _serve(folder / f"{name}.html", _PAGE.format(f"{name}.js").encode())
    return Viewer(name, f"{name}.html")


def _speedscope(folder: Path, text: bytes) -> list[Viewer]:
    """As its release is, opened with the stacks as folded text."""
    release = PEERS / "node_modules/speedscope/dist/release"
    if not release.exists():
        return []
    for file in filter(Path.is_file, shutil.copytree(release, folder / "speedscope").rglob("*")):
        _serve(file, file.read_bytes())
    _serve(folder / "speedscope/profile.collapsedstack.txt", text)
    return [Viewer("speedscope", "speedscope/index.html#profileURL=profile.collapsedstack.txt", _HAS_TABS)]


def _flamegraph_pl(folder: Path, scripts: Path, text: bytes) -> Viewer:
    """Its picture has no mark of its own: the page's load event, and the frame after it, stand for it."""
    (folder / "profile.folded").write_bytes(text)
    words = ["perl", scripts / "flamegraph.pl", "--width", "1600", folder / "profile.folded"]
    picture = subprocess.run(words, capture_output=True, check=True).stdout
    _serve(folder / "flamegraph.pl.svg", picture)
    return Viewer("flamegraph.pl", "flamegraph.pl.svg", _LOADED)


class _Compressed(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript", ".svg": "image/svg+xml"}

    def end_headers(self) -> None:
        self.send_header("Content-Encoding", "gzip")
        super().end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Compressed, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
