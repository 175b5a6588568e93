"""`memflame upload` and curl against the real site and its ingest worker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.site_fixture import LiveSite, Story

MEMFLAME = Path(sys.executable).with_name("memflame")
FOLDED = b"# memflame-folded 1\n# values: outstanding_bytes outstanding_objects\nmain;load_index;malloc 4096 1\n"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "out.folded"
    path.write_bytes(FOLDED)
    return path


def upload(site: LiveSite, token: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [MEMFLAME, "upload", *map(str, arguments), "--server", site.url]
    environment = {**os.environ, "MEMFLAME_TOKEN": token}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90)


def test_the_printed_link_leads_to_the_run(
    live_site: LiveSite, story: Story, alice: httpx.Client, profile: Path
) -> None:
    done = upload(live_site, story.project_token, profile, "--project", "shop", "--service", "api", "--label", "pr=12")

    assert (done.returncode, done.stdout.startswith(f"{live_site.url}/runs/r-")) == (0, True), done.stderr
    view = alice.get(f"/api/v1/runs/{done.stdout.strip().rpartition('/')[2]}").json()
    assert (view["state"], view["service"], view["labels"]) == ("ready", "api", {"pr": "12"})
    assert view["snapshots"][0]["totals"] == {"outstanding_bytes": 4096, "outstanding_objects": 1}


def test_curl_needs_nothing_but_the_token(live_site: LiveSite, story: Story, profile: Path) -> None:
    address = f"{live_site.url}/api/v1/projects/shop/uploads?service=api"
    token = f"Authorization: Bearer {story.project_token}"
    command = ["curl", "-sS", "--noproxy", "*", "--data-binary", f"@{profile}", "-H", token, address]

    done = subprocess.run(command, capture_output=True, text=True, timeout=90)

    assert done.returncode == 0
    assert '"url"' in done.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "empty"), (b"\x00\x01\x02\xff" * 100, "not stored"), (b"main;work many\n" * 3, "not stored")],
    ids=["empty", "binary", "no numbers"],
)
def test_what_can_not_be_read_is_refused_and_not_kept(
    live_site: LiveSite, story: Story, alice: httpx.Client, profile: Path, content: bytes, words: str
) -> None:
    before = alice.get("/api/v1/projects/shop/runs").json()["runs"]
    profile.write_bytes(content)

    done = upload(live_site, story.project_token, profile, "--project", "shop")

    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr
    assert alice.get("/api/v1/projects/shop/runs").json()["runs"] == before


def test_a_wrong_token_and_an_unknown_project_are_told_apart_in_words(
    live_site: LiveSite, story: Story, profile: Path
) -> None:
    wrong_token = upload(live_site, "mfp_00000000_nothing", profile, "--project", "shop")
    unknown_project = upload(live_site, story.project_token, profile, "--project", "elsewhere")

    assert (wrong_token.returncode, unknown_project.returncode) == (1, 1)
    assert "token" in wrong_token.stderr
    assert "elsewhere" in unknown_project.stderr


def test_dumps_of_two_processes_become_two_runs_in_their_order(
    live_site: LiveSite, story: Story, alice: httpx.Client, tmp_path: Path
) -> None:
    sizes = {"jeprof.7.10.f.heap": 300, "jeprof.7.2.i2.heap": 100, "jeprof.8.0.f.heap": 7}
    for name, size in sizes.items():
        (tmp_path / name).write_text(f"heap_v2/1\n  t*: 1: {size} [0: 0]\n@ 0x10\n  t*: 1: {size} [0: 0]\n")

    done = upload(live_site, story.project_token, *[tmp_path / name for name in sizes], "--project", "shop")

    views = [alice.get(f"/api/v1/runs/{link.rpartition('/')[2]}").json() for link in done.stdout.split()]
    assert [[each["totals"]["inuse_bytes"] for each in view["snapshots"]] for view in views] == [[100, 300], [7]]
    assert [view["state"] for view in views] == ["ready", "ready"]
