"""What the store takes and what it refuses: hostile files, limits, and who may."""

from __future__ import annotations

import gzip
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.test import Client
from pytest_django import Settings

from webapp.symbols.models import SymbolFile
from webapp.teams.models import User

SYMBOLS = "/projects/search-api/symbols"


@pytest.fixture
def send(ci: Any) -> Callable[..., Any]:
    return lambda body, name="shop", **headers: ci.send(f"{SYMBOLS}?name={name}", body, method="PUT", **headers)


def test_it_tells_what_it_is(ci: Any, send: Callable[..., Any], program: Any) -> None:
    answer = send(program.debug.read_bytes(), name="shop.debug").json()

    expected = {"module": "shop", "build_id": program.build_id, "kind": "debug", "has_lines": True, "runs": 0}
    assert {key: answer[key] for key in expected} == expected
    assert [file["sha256"] for file in ci.get(SYMBOLS).json()["files"]] == [answer["sha256"]]


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("zstd", zstandard.compress)])
def test_a_packed_body_is_the_same_file(
    send: Callable[..., Any], program: Any, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    plain = send(program.whole.read_bytes())
    packed = send(pack(program.whole.read_bytes()), content_encoding=encoding)

    assert (plain.status_code, packed.status_code) == (201, 200)
    assert packed.json()["sha256"] == plain.json()["sha256"]


def elf(**over: int) -> bytes:
    """A header of 64 bytes and nothing that it tells of."""
    told = {
        "programs": 64,
        "sections": 64,
        "program_size": 56,
        "program_count": 1,
        "section_size": 64,
        "section_count": 1,
    }
    told |= over | {"names": over.get("names", 0)}
    numbers = struct.pack("=QQ", told["programs"], told["sections"])
    sizes = ("program_size", "program_count", "section_size", "section_count", "names")
    tail = struct.pack("=IH5H", 0, 64, *(told[key] for key in sizes))
    return b"\x7fELF\2\1\1" + bytes(9) + struct.pack("=HHIQ", 3, 62, 1, 0) + numbers + tail


HOSTILE = {
    "no ELF file": b"main;load 4096\n",
    "nothing": b"",
    "cut in its header": b"\x7fELF\2\1\1",
    "32 bits": b"\x7fELF\1\1\1" + bytes(100),
    "tables behind its end": elf(programs=1 << 62, sections=1 << 63),
    "tables that overlap": elf(program_count=65_535, section_count=65_535, names=65_534) + os.urandom(9000),
    "tables of entries without size": elf(program_size=0, section_size=0, program_count=65_535, section_count=65_535),
    "ends in the middle": None,
    "stripped": None,
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_can_not_name_anything_is_refused_in_words_and_nothing_is_kept(
    kind: str, send: Callable[..., Any], program: Any, storage: Path
) -> None:
    whole = program.whole.read_bytes()
    special = {"ends in the middle": whole[: len(whole) // 8], "stripped": program.stripped.read_bytes()}
    body = special.get(kind) or HOSTILE[kind] or b""

    answer = send(body)

    assert answer.status_code == 422, answer.content
    assert answer.json()["error"].startswith("shop was not stored: ")
    assert not SymbolFile.objects.exists()
    assert [path for path in storage.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("MAX_SYMBOL_BYTES", "more than 1,000 bytes"),
        ("MAX_SYMBOL_INFLATED_BYTES", "limit is 1,000"),
        ("MAX_PROJECT_SYMBOL_BYTES", "the symbols of search-api would have"),
    ],
)
def test_a_limit_that_is_passed_is_named(
    send: Callable[..., Any], program: Any, settings: Settings, setting: str, words: str
) -> None:
    setattr(settings, setting, 1000)

    answer = send(program.whole.read_bytes())

    assert answer.status_code == 413
    assert words in answer.json()["error"]


@pytest.mark.parametrize("name", ["../shop", "a/b", "", "x" * 256, ".debug", "a%0Ab"])
def test_a_name_that_is_no_file_name_is_refused(send: Callable[..., Any], program: Any, name: str) -> None:
    assert send(program.whole.read_bytes(), name=name).status_code == 422


def test_an_encoding_that_is_not_known_is_refused(send: Callable[..., Any], program: Any) -> None:
    assert send(program.whole.read_bytes(), content_encoding="br").status_code == 422


def test_viewers_see_and_members_upload(
    story: Any, as_user: Callable[[User], Client], send: Callable[..., Any], program: Any
) -> None:
    sha256 = send(program.whole.read_bytes()).json()["sha256"]
    viewer, stranger = as_user(story.vera), as_user(story.charlie)

    assert len(viewer.get(f"/api/v1{SYMBOLS}").json()["files"]) == 1
    assert viewer.delete(f"/api/v1{SYMBOLS}/{sha256}").status_code == 403
    assert stranger.get(f"/api/v1{SYMBOLS}").status_code == 404
    assert send(program.whole.read_bytes()).status_code == 200
