"""Files of any compression and encoding, recognised by content, refused at the limits."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from tracer import protocol
from tracer.profile.errors import EmptyProfile, LimitExceeded, MalformedProfile, ProfileError, UnrecognizedFormat
from tracer.profile.formats import read_profile
from tracer.profile.model import Limits, Profile

FOLDED = b"main;load_index;malloc 4096\nmain;serve 64\n"
STACKS = {("main", "load_index", "malloc"): [4096], ("main", "serve"): [64]}
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda text: zstandard.ZstdCompressor().compress(text),
}
SMALL = Limits(inflated_bytes=1 << 20, line_bytes=1000, stack_frames=20, name_bytes=100, lines=50, frames=500)


def read(content: bytes, limits: Limits | None = None) -> Profile:
    return read_profile(io.BytesIO(content), resolve=protocol.value_type_named, limits=limits)


@pytest.mark.parametrize("name", PACKINGS)
def test_it_unpacks(name: str) -> None:
    profile = read(PACKINGS[name](FOLDED))

    assert profile.values_by_stack == STACKS
    assert profile.format == "folded"


@pytest.mark.parametrize("name", PACKINGS)
def test_packed_files_put_together_are_one_file(name: str) -> None:
    assert read(PACKINGS[name](FOLDED) + PACKINGS[name](b"late 1\n")).values_by_stack == {**STACKS, ("late",): [1]}


@pytest.mark.parametrize("name", PACKINGS)
def test_a_packed_file_that_ends_too_early_is_refused(name: str) -> None:
    with pytest.raises(MalformedProfile, match=f"the {name} data is damaged"):
        read(PACKINGS[name](FOLDED)[:-7])


@pytest.mark.parametrize("name", PACKINGS)
def test_a_damaged_packed_file_is_refused(name: str) -> None:
    packed = bytearray(PACKINGS[name](os.urandom(4000).hex().encode()))
    packed[len(packed) // 2 :: 7] = bytes(len(packed[len(packed) // 2 :: 7]))

    with pytest.raises(ProfileError, match=f"the {name} data is damaged|no line is a stack|NUL"):
        read(bytes(packed))


@pytest.mark.parametrize("inner", PACKINGS)
@pytest.mark.parametrize("outer", PACKINGS)
def test_what_is_packed_twice_is_unpacked_twice(outer: str, inner: str) -> None:
    assert read(PACKINGS[outer](PACKINGS[inner](FOLDED))).total() == 4160


def test_a_third_layer_is_refused() -> None:
    with pytest.raises(MalformedProfile, match="bzip2 inside gzip inside gzip data: 2 layers are unpacked at most"):
        read(gzip.compress(gzip.compress(bz2.compress(FOLDED))))


def test_a_zstd_window_that_the_sender_chose_too_large_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = packer.compress(FOLDED) + packer.flush()

    with pytest.raises(LimitExceeded, match="zstd window in bytes is 134,217,728, the limit is 8,388,608"):
        read(packed)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_it_reads_text_with_a_byte_order_mark(encoding: str) -> None:
    mark = "" if encoding in ("utf-8-sig", "utf-16") else "\ufeff"

    assert read((mark + "größe;配列 3\r\n").encode(encoding)).values_by_stack == {("größe", "配列"): [3]}


@pytest.mark.parametrize("name", PACKINGS)
def test_a_bomb_is_refused_at_the_inflated_limit(name: str) -> None:
    with pytest.raises(LimitExceeded, match="inflated, is more than 1,048,576, the limit is 1,048,576"):
        read(PACKINGS[name](b"a;b 1\n" * 400_000), Limits(inflated_bytes=1 << 20))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a 1\n" + b"x" * 1001 + b" 1\n", "line 2: length of a line in bytes is more than 1,000, the limit is 1,000"),
        (b"a 1\n" + b";".join([b"f"] * 21) + b" 1\n", "line 2: number of frames in a stack is 21, the limit is 20"),
        (b"a 1\na;" + b"n" * 101 + b" 1\n", "line 2: length of a frame's name in bytes is 101, the limit is 100"),
        (b"a 1\n" * 51, "line 51: number of lines is more than 50, the limit is 50"),
        (
            b"".join(b"a;" * 19 + b"%d 1\n" % number for number in range(30)),
            "line 26: number of frames in all stacks is 520, the limit is 500",
        ),
        (
            b"a 9223372036854775808\n",
            "line 1: value is 9,223,372,036,854,775,808, the limit is 9,223,372,036,854,775,807",
        ),
        (b"a -9223372036854775807\nb -1\n", "line 2: sum of the values is 9,223,372,036,854,775,808, the limit is"),
    ],
)
def test_each_limit_is_refused_with_line_limit_and_value(content: bytes, words: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        read(content, SMALL)

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"", EmptyProfile, "the file is empty"),
        (b" \n\n\t\n", EmptyProfile, "holds no stack"),
        (gzip.compress(b""), EmptyProfile, "the file is empty"),
        (b"a;b 1\na\0b 2\n", MalformedProfile, "line 2 holds a NUL"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), UnrecognizedFormat, "folded stacks); it begins with b'\\x89PNG"),
        (bytes(range(256)) * 40, UnrecognizedFormat, "none of the known formats"),
        (Path(sys.executable).read_bytes()[:65_536], UnrecognizedFormat, "it begins with b'\\x7fELF"),
        (b"Dear reader,\nthis is prose.\n", UnrecognizedFormat, "no line is a stack with its value; line 1"),
        (
            b"Dear reader,\nof these lines, one ends in a number:\nprint it each 5\n",
            UnrecognizedFormat,
            "1 of 3 lines are a stack",
        ),
    ],
)
def test_it_refuses(content: bytes, error: type[ProfileError], words: str) -> None:
    with pytest.raises(error) as caught:
        read(content)

    assert words in str(caught.value)


BOUNDED = """
import io, itertools, resource, sys
from tracer import protocol
from tracer.profile.errors import LimitExceeded
from tracer.profile.formats import read_profile

class Endless(io.RawIOBase):
    def __init__(self, first, piece, count):
        self.pieces = itertools.chain([first], itertools.repeat(piece, count))
    def readable(self):
        return True
    def read(self, size=-1):
        return next(self.pieces, b"")

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_profile({stream}, resolve=protocol.value_type_named)
except LimitExceeded as error:
    print(error, file=sys.stderr)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def grown_mb(stream: str) -> tuple[int, str]:
    """By how much a process of its own grew while it read that stream, and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED.replace("{stream}", stream)], capture_output=True, text=True, check=True
    )
    return int(done.stdout), done.stderr


def test_a_line_of_1_gb_is_refused_without_being_held() -> None:
    grown, said = grown_mb("Endless(b'a 1\\nb', b'x' * 1000_000, 1000)")

    assert "line 2: length of a line in bytes is more than 16,777,216, the limit is 16,777,216" in said
    assert grown < 64


def test_a_gzip_bomb_of_2_gb_is_refused_without_being_held(tmp_path: Path) -> None:
    part = gzip.compress((b"# " + b"x" * 60_000 + b"\n") * 1118, compresslevel=1)  # 64 MiB
    (tmp_path / "bomb.gz").write_bytes(part * 32)

    grown, said = grown_mb(f"open({str(tmp_path / 'bomb.gz')!r}, 'rb')")

    assert "size of the file in bytes, inflated, is more than 1,073,741,824, the limit is 1,073,741,824" in said
    assert grown < 64
