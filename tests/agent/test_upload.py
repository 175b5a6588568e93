"""`memflame upload` as people and CI call it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

MEMFLAME = Path(sys.executable).with_name("memflame")
UPLOADS = "/api/v1/projects/shop/uploads"
TOKEN = "mfp_abcdefgh_secretsecretsecret"
FOLDED = b"main;work;malloc 4096\n"


@pytest.fixture
def site(stub_site: Any, answer: Any) -> Any:
    stub_site.answer(UPLOADS, answer(201, {"run": "r-abc", "url": f"{stub_site.url}/runs/r-abc", "value_types": []}))
    return stub_site


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "out.folded"
    path.write_bytes(FOLDED)
    return path


def upload(*arguments: object, token: str = TOKEN) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MEMFLAME_TOKEN": token}
    if not token:
        del environment["MEMFLAME_TOKEN"]
    command = [MEMFLAME, "upload", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def test_it_prints_the_link_and_nothing_else_to_standard_output(site: Any, profile: Path) -> None:
    done = upload(profile, "--server", site.url, "--project", "shop")

    assert (done.returncode, done.stdout) == (0, f"{site.url}/runs/r-abc\n")
    assert done.stderr == "memflame upload: sending out.folded, 22 bytes\n"
    assert site.requests[0].body == FOLDED


def test_what_is_said_of_the_profile_is_sent(site: Any, profile: Path) -> None:
    upload(
        profile, "--server", site.url, "--project", "shop", "--service", "search api", "--deploy", "v1.2+3",
        "--label", "region=eu", "--label", "note=a=b", "--name", "After the fix",
    )  # fmt: skip

    assert site.requests[0].query == {
        "service": ["search api"],
        "deploy": ["v1.2+3"],
        "label": ["region:eu", "note:a=b"],
        "name": ["After the fix"],
    }
    assert site.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_for_machines_it_prints_the_whole_answer(site: Any, profile: Path) -> None:
    done = upload(profile, "--server", site.url, "--project", "shop", "--json")

    assert json.loads(done.stdout)["run"] == "r-abc"


def test_several_files_follow_the_first_and_the_last_answer_is_printed(site: Any, answer: Any, tmp_path: Path) -> None:
    url = f"{site.url}/runs/r-abc"
    names = ["jeprof.7.10.i10.heap", "jeprof.7.9.i9.heap"]
    for name in names:
        (tmp_path / name).write_text(name)
    site.answer("/api/v1/runs/r-abc/files/2", answer(503), answer(201, {"run": "r-abc", "url": url}))

    done = upload(*[tmp_path / name for name in names], "--server", site.url, "--project", "shop")

    assert (done.returncode, done.stdout) == (0, f"{url}\n"), done.stderr
    first, _, second = site.requests
    assert first.query == {"name": ["jeprof.7.*.heap"], "files": ["2"], "file": ["jeprof.7.9.i9.heap"]}
    assert (second.method, second.query) == ("PUT", {"file": ["jeprof.7.10.i10.heap"]})
    assert (first.body, second.body) == (b"jeprof.7.9.i9.heap", b"jeprof.7.10.i10.heap")


def test_dumps_of_two_processes_become_two_runs(site: Any, tmp_path: Path) -> None:
    names = ["jeprof.8.0.f.heap", "jeprof.7.0.f.heap"]
    for name in names:
        (tmp_path / name).write_text(name)

    done = upload(*[tmp_path / name for name in names], "--server", site.url, "--project", "shop")

    assert done.stdout.splitlines() == [f"{site.url}/runs/r-abc"] * 2
    assert [request.query["name"] for request in site.requests] == [["jeprof.7.0.f.heap"], ["jeprof.8.0.f.heap"]]


def test_a_file_that_is_not_there_is_found_before_any_is_sent(site: Any, profile: Path) -> None:
    done = upload(profile, profile.with_name("gone.folded"), "--server", site.url, "--project", "shop")

    assert (done.returncode, site.requests) == (1, [])
    assert "gone.folded: No such file" in done.stderr


def test_a_packed_file_is_sent_as_it_is(site: Any, tmp_path: Path) -> None:
    path = tmp_path / "out.folded.gz"
    path.write_bytes(gzip.compress(os.urandom(200_000)))

    upload(path, "--server", site.url, "--project", "shop")

    assert site.requests[0].body == path.read_bytes()
    assert "content-encoding" not in site.requests[0].headers


def test_a_large_plain_file_is_packed_on_the_way(site: Any, tmp_path: Path) -> None:
    path = tmp_path / "out.folded"
    path.write_bytes(FOLDED * 50_000)

    done = upload(path, "--server", site.url, "--project", "shop")

    body = site.requests[0].body
    assert done.returncode == 0
    assert site.requests[0].headers["content-encoding"] == "zstd"
    assert len(body) < 10_000
    assert zstandard.ZstdDecompressor().decompressobj().decompress(body) == path.read_bytes()


def test_a_refusal_is_told_in_the_sites_words(site: Any, answer: Any, profile: Path) -> None:
    site.answer(UPLOADS, answer(413, {"error": "Line 812 has 21 MB, the limit is 16 MB."}))

    done = upload(profile, "--server", site.url, "--project", "shop")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(f"memflame upload: {profile} was not sent: Line 812 has 21 MB, the limit is 16 MB.\n")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"token": ""}, "no token: set MEMFLAME_TOKEN"),
        ({"file": "absent.folded"}, "can't read absent.folded: No such file or directory"),
        ({"server": "memflame.example"}, "an address as https://memflame.example is needed"),
    ],
)
def test_what_is_missing_is_named(site: Any, profile: Path, change: dict[str, str], words: str) -> None:
    file, server = change.get("file", profile), change.get("server", site.url)

    done = upload(file, "--server", server, "--project", "shop", token=change.get("token", TOKEN))

    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr
    assert site.requests == []


@pytest.mark.parametrize("arguments", [["--label", "region"], ["--label", "=x"], ["--token", TOKEN]])
def test_wrong_usage_exits_with_2(site: Any, profile: Path, arguments: list[str]) -> None:
    done = upload(profile, "--server", site.url, "--project", "shop", *arguments)

    assert done.returncode == 2
    assert site.requests == []
