"""Bad input through the API: each is a clear error naming place, limit and value, and nothing stays stored."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from webapp.runs.models import Run, Snapshot

PATH = "/projects/search-api/uploads?name=bad.folded"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("eager_worker")]

BAD: dict[str, tuple[bytes, int, str]] = {
    "an empty file": (b"", 422, "bad.folded was not stored: the file is empty."),
    "white space": (b" \n\n", 422, "the file holds no stack"),
    "binary junk": (bytes(range(256)) * 40, 422, "the file is none of the known formats"),
    "a broken gzip": (gzip.compress(b"main 1\n" * 1000)[:40], 422, "the gzip data is damaged"),
    "gzip in gzip in gzip": (
        gzip.compress(gzip.compress(gzip.compress(b"main 1\n"))),
        422,
        "layers",
    ),
    "a gzip bomb": (gzip.compress((b"main;" + b"g;" * 200 + b"h 1\n") * 4000, 9), 413, "the limit is 1,048,576"),
    "a zstd bomb": (zstandard.compress(b"main 1\n" * (3 << 20), 9), 413, "the limit is 1,048,576"),
    "a long line": (
        b"main 1\n" + b"a" * 70_000 + b" 1\n",
        413,
        "line 2: length of a line in bytes is more than 65,536",
    ),
    "a long name": (b"main;" + b"a" * 3000 + b" 1\n", 413, "the limit is 2,048"),
    "a deep stack": (b";".join([b"f"] * 600) + b" 1\n", 413, "the limit is 500"),
    "many lines": (b"main 1\n" * 5001, 413, "the limit is 5,000"),
    "many nodes": (b"".join(b"f%d;g 1\n" % number for number in range(4000)), 413, "the limit is 6,000"),
    "a table": (
        b"MemTotal: 4000 kB\nHugePages_Total: 0\n",
        422,
        "bad.folded was not stored: the file is a table (meminfo), not stacks, so there is no graph of it:",
    ),
    "no value in any line": (b"main;serve\nmain;load\n", 422, "bad.folded was not stored:"),
}


@pytest.fixture(autouse=True)
def small_limits(settings: Any) -> None:
    from tracer.profile.model import Limits

    settings.LIMITS = Limits(
        inflated_bytes=1 << 20, line_bytes=1 << 16, stack_frames=500, name_bytes=2048, lines=5000, tree_nodes=6000
    )


@pytest.mark.parametrize("case", BAD)
def test_it_is_refused_in_words_and_nothing_is_stored(ci: Any, storage: Path, case: str) -> None:
    body, status, sentence = BAD[case]

    answer = ci.send(PATH, body)

    assert sentence in answer.json()["error"]
    assert answer.status_code == status
    assert (Run.objects.count(), Snapshot.objects.count()) == (0, 0)
    assert [path for path in storage.rglob("*") if path.is_file()] == []


def test_a_name_with_a_nul_is_skipped_or_refused_by_line(ci: Any) -> None:
    answer = ci.send(PATH, b"main;a\x00b 5\nmain;serve 7\n")

    if answer.status_code == 201:
        snapshot = Snapshot.objects.get()
        assert snapshot.skipped_lines == 1
        assert snapshot.skipped[0][0] == 1
        assert "\0" not in json.dumps(snapshot.skipped)
        assert Run.objects.get().total == 7
    else:
        assert "line 1" in answer.json()["error"]
        assert Run.objects.count() == 0


def test_invalid_utf8_is_taken_and_shown_as_replaced(ci: Any) -> None:
    answer = ci.send(PATH, b"main;caf\xe9 5\nmain;serve 7\n")

    assert answer.status_code == 201
    assert Run.objects.get().total == 12


def test_a_bad_line_of_a_readable_file_is_counted_with_its_number_and_text(ci: Any) -> None:
    ci.send(PATH, b"main;serve 7\nmain;load_index\nmain;walk 3\n")

    snapshot = Snapshot.objects.get()
    assert (snapshot.skipped_lines, snapshot.skipped[0][0], snapshot.skipped[0][1]) == (1, 2, "main;load_index")
    assert Run.objects.get().total == 10


def test_a_body_over_the_limit_names_limit(ci: Any, settings: Any, storage: Path) -> None:
    settings.MAX_UPLOAD_BYTES = 1000

    answer = ci.send(PATH, b"main 1\n" * 1000)

    assert answer.status_code == 413
    assert "the limit is 1,000" in answer.json()["error"]
    assert [path for path in storage.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("service=" + "s" * 101, "service"),
        ("label=justakey", "label is 'justakey', it must be key:value"),
        ("label=" + "k" * 61 + ":v", "is too long: 60 characters"),
        ("at=yesterday", "at"),
        ("name=a%00b", "control characters are not taken"),
        ("deploy=a%0Ab", "control characters are not taken"),
    ],
)
def test_a_bad_parameter_is_named(ci: Any, query: str, sentence: str) -> None:
    answer = ci.send(f"/projects/search-api/uploads?{query}", b"main 1\n")

    assert answer.status_code == 422
    assert sentence in answer.json()["error"]
    assert Run.objects.count() == 0


@pytest.mark.parametrize("header", ["Bearer mfp_00000000_wrong", "Bearer ", "Basic YWxpY2U6cGFzcw==", "Bearer mfa_x"])
def test_a_wrong_token_is_401_in_words(story: Any, client: Any, header: str) -> None:
    answer = client.generic("POST", f"/api/v1{PATH}", b"main 1\n", headers={"Authorization": header})

    assert answer.status_code == 401
    assert answer.json()["error"].endswith(".")
    assert Run.objects.count() == 0


def test_nobody_is_told_to_sign_in(story: Any, client: Any) -> None:
    answer = client.post(f"/api/v1{PATH}", b"main 1\n", content_type="application/octet-stream")

    assert answer.status_code == 401
    assert answer.json() == {"error": "Sign in, or send a project's token: Authorization: Bearer mfp_…."}


@pytest.mark.parametrize("slug", ["nothing-here", "ads-api"])
def test_an_unknown_project_and_another_teams_look_alike(ci: Any, slug: str) -> None:
    answer = ci.send(f"/projects/{slug}/uploads", b"main 1\n")

    assert answer.status_code == 404
    assert answer.json() == {"error": f"There is no project '{slug}' that you may see."}


def test_a_hostile_capture_header_does_no_harm(ci: Any) -> None:
    capture = {
        "collector": ["x"],
        "pid": "4711",
        "command": {"a": 1},
        "elapsed_s": -1,
        "notes": [[[[[[["deep"]]]]]]],
        "x": 1,
    }
    head = b"# memflame-folded 1\n# values: outstanding_bytes\n# capture: " + json.dumps(capture).encode() + b"\n"

    answer = ci.send(PATH, head + b"main 5\n")

    assert answer.json()["value_types"] == ["outstanding_bytes"]
    snapshot = Snapshot.objects.get()
    assert "x" not in snapshot.capture
    assert snapshot.capture["notes"] == [[[[[["['deep']"]]]]]]
    assert (Run.objects.get().collector, Run.objects.get().elapsed_s) == ("folded", 0.0)
