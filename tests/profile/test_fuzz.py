"""Golden files of each format, mutated: they are read or refused in words, whatever was done to them.

`HYPOTHESIS_PROFILE=long pytest tests/profile/test_fuzz.py` tries thousands of each format.
"""

from __future__ import annotations

import gzip
import io
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracer import protocol
from tracer.profile import tree
from tracer.profile.errors import ProfileError
from tracer.profile.export.forms import FORMS
from tracer.profile.export.picture import Picture
from tracer.profile.export.source import Source
from tracer.profile.formats import FORMATS, read_profile
from tracer.profile.model import Limits, Profile

DATA = Path(__file__).parents[1] / "data"
NO_PROFILES = (".expected", ".md", ".sh", ".c")
LIMITS = Limits(inflated_bytes=16 << 20, tree_nodes=100_000, frames=1_000_000)
MAX_SECONDS = 10  # of the processor, for files of some kilobytes
PIECES = st.sampled_from(
    [
        b"\n", b"\r\n", b"\t", b" " * 40, b";", b"@", b"-", b"0", b"-1", b"9" * 30, b"1e999", b"NaN", b"0x", b"0.5",
        b"{", b"}", b"[", b"]", b"null", b"true", b'"', b"\\", b"\\ud800", b"\0", b"\xff\xfe", b"\xc3\x28",
        b"\x80" * 12, b"18446744073709551615", b"-9223372036854775808",
        "\u0663".encode(), "\u00b2".encode(), "\u2028".encode(),
    ]
)  # fmt: skip


def golden(format_name: str) -> list[bytes]:
    """Unpacked: what is broken inside of a packed file would only break the packing."""
    paths = [
        path
        for path in sorted((DATA / format_name).iterdir())
        if path.suffix not in NO_PROFILES and not path.name.endswith(".totals.json")
    ]
    return [gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in paths]


GOLDEN = {name: golden(name) for name in FORMATS}
ALL = [raw for files in GOLDEN.values() for raw in files]


@st.composite
def mutated(draw: st.DrawFn, files: list[bytes]) -> bytes:
    raw = bytearray(draw(st.sampled_from(files)))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(raw)))
        end = place + draw(st.sampled_from([0, 0, 1, 3, 12, 100]))
        other = draw(st.sampled_from(ALL))
        start = draw(st.integers(0, len(other)))
        how = draw(st.integers(0, 4))
        if how == 0:
            raw[place:end] = draw(PIECES)
        elif how == 1:
            raw[place:end] = draw(st.binary(max_size=8))
        elif how == 2:
            del raw[place:]
        elif how == 3:
            raw[place:place] = other[start : start + 300]
        else:
            raw[place:end] = bytes(raw[place:end]) * 20
    return bytes(raw)


@pytest.mark.parametrize("format_name", FORMATS)
@given(data=st.data())
@settings(max_examples=settings().max_examples // 3)
def test_a_mutated_file_is_read_or_refused_in_words(format_name: str, data: st.DataObject) -> None:
    raw, started = data.draw(mutated(GOLDEN[format_name])), time.process_time()

    try:
        profile = read_profile(io.BytesIO(raw), resolve=protocol.value_type_named, limits=LIMITS)
    except ProfileError as error:
        str(error).encode()  # shown to people: no half characters
        assert str(error)
    else:
        check_that_it_can_be_stored(profile)
    assert time.process_time() - started < MAX_SECONDS


def check_that_it_can_be_stored(profile: Profile) -> None:
    names = [known.name for known in profile.value_types]
    assert len(set(names)) == len(names)
    assert all(name.split() == [name] for name in names)
    tree.unpack(tree.pack(tree.build(profile)))
    for form in FORMS.values():
        form.write(Source(profile=profile), io.BytesIO(), Picture("fuzzed"))
