"""Maps of JIT-compiled code, as Node and Java write them."""

from __future__ import annotations

import os

import pytest

from tracer.symbols import jit
from tracer.symbols.jit import names_in_map


@pytest.fixture
def names(tmp_path):
    def named(text: bytes, *addresses: int) -> dict[int, str]:
        path = tmp_path / "perf.map"
        path.write_bytes(text)
        with path.open("rb") as file:
            return names_in_map(file.fileno(), addresses)

    return named


def test_an_address_has_the_name_of_the_code_that_holds_it(names):
    text = b"3ef414c0 398 RegExp:[{(]\n3ef418a0 7f8 LazyCompile:~loadIndex /srv/app/index.js:12:20\n"

    assert names(text, 0x3EF414BF, 0x3EF414C0, 0x3EF41857, 0x3EF41858, 0x3EF42000) == {
        0x3EF414C0: "RegExp:[{(]",
        0x3EF41857: "RegExp:[{(]",
        0x3EF42000: "LazyCompile:~loadIndex /srv/app/index.js:12:20",
    }


def test_code_that_was_written_over_has_the_later_name(names):
    assert names(b"1000 100 old\n1080 100 new\n", 0x1040, 0x10C0, 0x1140) == {
        0x1040: "old",
        0x10C0: "new",
        0x1140: "new",
    }


def test_addresses_with_0x_and_names_of_any_bytes_are_read(names):
    text = b"0x1000 0x10 Lcom/acme/Search;::run\n2000 10 caf\xe9 \x00 x\n3000 10 \n"

    assert names(text, 0x1000, 0x2000, 0x3000) == {
        0x1000: "Lcom/acme/Search;::run", 0x2000: "caf\ufffd \ufffd x", 0x3000: "[jit]",
    }  # fmt: skip


@pytest.mark.parametrize("text", [b"", b"\n\n", b"hello\n", b"1000 zz name\n", b"1000 10 half a li"])
def test_what_is_no_whole_line_of_a_map_is_passed_over(names, text):
    assert names(text, 0x1000) == {}


def test_of_a_map_that_is_too_large_the_end_is_read(names, monkeypatch):
    monkeypatch.setattr(jit, "MAX_BYTES", 40)
    text = b"1000 10 first\n" + b"2000 10 x\n" * 10 + b"3000 10 last\n"

    assert names(text, 0x1000, 0x2000, 0x3000) == {0x2000: "x", 0x3000: "last"}


def test_lines_longer_than_memory_should_hold_are_passed_over(names):
    text = b"1000 10 " + b"y" * (3 << 20) + b"\n2000 10 short\n"

    found = names(text, 0x1000, 0x2000)

    assert found[0x2000] == "short"
    assert len(found.get(0x1000, "")) <= 8192


def test_the_descriptor_may_be_at_its_end(tmp_path):
    path = tmp_path / "perf.map"
    path.write_bytes(b"1000 10 name\n")
    with path.open("rb") as file:
        os.lseek(file.fileno(), 0, os.SEEK_END)

        assert names_in_map(file.fileno(), [0x1000]) == {0x1000: "name"}
