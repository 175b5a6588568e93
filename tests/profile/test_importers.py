"""Each importer on files of its own: recognised by content, equal to their golden twins, and safe when damaged."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer import protocol
from tracer.profile.errors import MalformedProfile, ProfileError
from tracer.profile.folded import write_folded
from tracer.profile.formats import FORMATS, read_profile
from tracer.profile.model import Profile

DATA = Path(__file__).parents[1] / "data"
OTHERS = ("folded", "perf_script")  # they have tests of their own
GOLDEN = sorted(
    path
    for name in FORMATS
    if name not in OTHERS
    for path in (DATA / name).iterdir()
    if path.suffix not in (".expected", ".md")
)


def read(raw: bytes) -> Profile:
    return read_profile(io.BytesIO(raw), resolve=protocol.value_type_named)


def text_of(profile: Profile) -> str:
    """In our folded form, and which lines were skipped."""
    out = io.BytesIO()
    write_folded(profile, out)
    skipped = [f"# skipped {line.number}: {line.reason}\n" for line in profile.skipped]
    return out.getvalue().decode() + "".join(skipped)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_is_read_as_its_golden_twin_says(path: Path) -> None:
    profile = read(path.read_bytes())

    assert profile.format == path.parent.name
    assert text_of(profile) == path.with_name(f"{path.name}.expected").read_text()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_line_ends_of_windows_and_a_missing_last_one_change_nothing(path: Path) -> None:
    raw = path.read_bytes()
    if b"\0" in raw or not raw.isascii():
        return  # no text

    assert text_of(read(raw.replace(b"\n", b"\r\n").rstrip())) == text_of(read(raw))


@given(path=st.sampled_from(GOLDEN), data=st.data())
def test_a_damaged_file_is_read_or_refused_but_never_a_crash(path: Path, data: st.DataObject) -> None:
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(raw)))
        piece = data.draw(st.binary(max_size=8) | st.sampled_from([b"\n", b"-", b"9" * 30, b"@", b"\xff\xfe", b"[0]"]))
        raw[start : start + data.draw(st.integers(0, 12))] = piece
    try:
        profile = read(bytes(raw))
    except ProfileError as error:
        assert str(error)
    else:
        assert profile.stack_count > 0


@pytest.mark.parametrize(
    "first", ["--- heapz 1 ---", "--- contentionz 1 ---", "goroutine profile: total 7", "heap profile: a"]
)
def test_relatives_of_the_heap_text_are_refused_by_name(first: str) -> None:
    with pytest.raises(MalformedProfile, match="of this family only profiles of the heap are read"):
        read(f"{first}\n  1: 2 @ 0x1\n".encode())
