"""Pages of other viewers of the same profile, made with esbuild and served with gzip as our site serves its own."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.benchmarks.viewer_profiles import folded, nested, nested_set
from tracer.profile.tree import CallTree

PEERS = Path(__file__).parent / "peers"
ENTRIES = {"grafana": "grafana.jsx", "d3-flame-graph": "d3-flame-graph.js"}
_PAGE = '<!doctype html><meta charset="utf-8"><div id="graph"></div><script type="module" src="{}"></script>'


def make_peers(folder: Path, tree: CallTree) -> list[str]:
    """Names of the peers whose page is now in the folder."""
    for name, data in (("columns.json", nested_set(tree)), ("nested.json", nested(tree))):
        (folder / name).write_bytes(gzip.compress(_json(data), 6))
    made = [name for name, entry in ENTRIES.items() if _built(folder, name, entry)]
    if flamegraphs := os.environ.get("FLAMEGRAPH_DIR"):
        made.append(_flamegraph_pl(folder, Path(flamegraphs), tree))
    return made


def _json(data: object) -> bytes:
    # The encoder in C gives up on objects 120 deep only if Python's own limit is lower than that.
    sys.setrecursionlimit(10_000)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def _built(folder: Path, name: str, entry: str) -> bool:
    esbuild = PEERS / "node_modules/.bin/esbuild"
    if not esbuild.exists():
        return False
    words = [
        esbuild,
        entry,
        "--bundle",
        "--minify",
        "--format=esm",
        f"--outfile={folder / name}.js",
        "--log-level=error",
    ]
    words += [
        "--define:process.env.NODE_ENV='production'",
        "--jsx=automatic",
        "--loader:.svg=dataurl",
        "--loader:.ttf=empty",
        "--alias:@grafana/assistant=./no-assistant.js",
    ]
    done = subprocess.run(words, cwd=PEERS, capture_output=True, text=True)
    if done.returncode:
        print(f"   {name} was not built: {done.stderr[:300]}")
        return False
    script = folder / f"{name}.js"
    script.write_bytes(gzip.compress(script.read_bytes(), 6))
    (folder / f"{name}.html").write_bytes(gzip.compress(_PAGE.format(f"{name}.js").encode()))
    return True


def _flamegraph_pl(folder: Path, scripts: Path, tree: CallTree) -> str:
    """Its picture has no mark of its own: the page's load event stands for it, which is early if anything."""
    (folder / "profile.folded").write_text("".join(folded(tree)))
    words = ["perl", scripts / "flamegraph.pl", "--width", "1600", folder / "profile.folded"]
    picture = subprocess.run(words, capture_output=True, check=True).stdout
    (folder / "flamegraph.pl.svg").write_bytes(gzip.compress(picture, 6))
    return "flamegraph.pl"


class _Compressed(SimpleHTTPRequestHandler):
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
