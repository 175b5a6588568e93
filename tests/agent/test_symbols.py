"""`memflame symbols upload` as people and CI call it, against a stub and against the real site."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.site_fixture import LiveSite, Story

MEMFLAME = Path(sys.executable).with_name("memflame")
SYMBOLS = "/api/v1/projects/shop/symbols"
TOKEN = "mfp_abcdefgh_secretsecretsecret"
STORED = {"module": "search-api", "build_id": "93ac61ec5a8eb1396f9fbd35", "kind": "binary", "runs": 12}
SOURCE = """
#include <stdlib.h>
__attribute__((noinline)) void *load_index(int n) { void *p = malloc(n); __asm__ volatile("" : : "r"(p)); return p; }
int main(void) { return load_index(8) == 0; }
"""


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    path = tmp_path / "search-api.debug"
    path.write_bytes(b"\x7fELF")
    return path


@pytest.fixture
def site(stub_site: Any, answer: Any) -> Any:
    stub_site.answer(SYMBOLS, answer(201, STORED))
    return stub_site


def symbols(*arguments: object, token: str = TOKEN) -> subprocess.CompletedProcess[str]:
    command = [MEMFLAME, "symbols", *map(str, arguments)]
    environment = {**os.environ, "MEMFLAME_TOKEN": token}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90)


def test_it_prints_how_many_runs_get_names(site: Any, binary: Path) -> None:
    done = symbols("upload", binary, "--server", site.url, "--project", "shop")

    assert (done.returncode, done.stdout) == (0, "search-api (binary, build id 93ac61ec5a8eb139): 12 runs get names\n")
    (request,) = site.requests
    assert (request.method, request.query, request.body) == ("PUT", {"name": ["search-api.debug"]}, b"\x7fELF")
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


def test_for_machines_it_prints_all_answers(site: Any, answer: Any, binary: Path) -> None:
    none = {**STORED, "runs": 0, "build_id": ""}
    site.answer(SYMBOLS, answer(201, STORED), answer(200, none))

    done = symbols("upload", binary, binary, "--server", site.url, "--project", "shop", "--json")

    assert (done.returncode, json.loads(done.stdout)) == (0, [STORED, none])


def test_one_that_is_refused_does_not_keep_the_others_back(site: Any, answer: Any, binary: Path) -> None:
    site.answer(SYMBOLS, answer(422, {"error": "It is stripped."}), answer(201, STORED))

    done = symbols("upload", binary, binary, binary.with_name("absent"), "--server", site.url, "--project", "shop")

    assert (done.returncode, done.stdout.count("12 runs get names")) == (1, 1)
    assert f"{binary} was not sent: It is stripped." in done.stderr
    assert "absent: No such file or directory" in done.stderr


def test_a_name_of_its_own_is_sent(site: Any, binary: Path) -> None:
    symbols("upload", binary, "--name", "api", "--server", site.url, "--project", "shop")

    assert site.requests[0].query == {"name": ["api"]}


@pytest.mark.parametrize("arguments", [["download"], ["upload"], ["upload", "a", "b", "--name", "c"]])
def test_wrong_usage_exits_with_2(site: Any, arguments: list[str]) -> None:
    done = symbols(*arguments, "--server", site.url, "--project", "shop")

    assert (done.returncode, site.requests) == (2, [])


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """The same program whole, and its debug file alone."""
    whole, debug = tmp_path / "shop", tmp_path / "shop.debug"
    command = ["gcc", "-g", "-O1", "-Wl,--build-id", "-x", "c", "-o", whole, "-"]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    subprocess.run(["objcopy", "--only-keep-debug", whole, debug], check=True)
    return {"whole": whole, "debug": debug}.__getitem__


def test_a_run_on_a_real_site_has_the_names_of_a_debug_file(
    live_site: LiveSite, story: Story, alice: httpx.Client, program: Callable[[str], Path]
) -> None:
    listed = subprocess.run(["nm", program("whole")], capture_output=True, text=True, check=True).stdout
    start = next(int(line.split()[0], 16) for line in listed.splitlines() if line.endswith(" load_index"))
    body = f"shop+{start + 1:#x};malloc 4096\n".encode()
    headers = {"Authorization": f"Bearer {story.project_token}"}
    run = httpx.post(
        f"{live_site.url}/api/v1/projects/shop/uploads", content=body, headers=headers, timeout=90, trust_env=False
    ).json()["run"]

    options = ["--server", live_site.url, "--project", "shop"]
    done = symbols("upload", program("debug"), *options, token=story.project_token)

    assert (done.returncode, done.stdout.endswith("1 run gets names\n")) == (0, True), done.stdout + done.stderr
    assert named_within(alice, run, 60).startswith("load_index;malloc 4096")


def named_within(alice: httpx.Client, run: str, seconds: float) -> str:
    """The run as folded text, once its second revision is there."""
    deadline = time.monotonic() + seconds
    while alice.get(f"/api/v1/runs/{run}").json()["snapshots"][0]["revision"] < 2:
        assert time.monotonic() < deadline, "the run got no names"
    return alice.get(f"/runs/{run}/export/1/folded").text
