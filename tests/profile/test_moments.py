"""Files with several points in time: all of them in order, each by itself, and which one is shown by default."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tracer import protocol
from tracer.profile.errors import EmptyProfile, LimitExceeded, MalformedProfile
from tracer.profile.folded import write_folded
from tracer.profile.formats import read_moments, read_profile
from tracer.profile.formats.reading import Moment
from tracer.profile.model import Limits

DATA = Path(__file__).parents[1] / "data"
GOLDEN = sorted(DATA.glob("*/*.moments.expected"))


def moments_of(raw: bytes, limits: Limits | None = None) -> list[Moment]:
    return list(read_moments(io.BytesIO(raw), resolve=protocol.value_type_named, limits=limits))


def text_of(moment: Moment) -> str:
    out = io.BytesIO()
    write_folded(moment.profile, out)
    skipped = "".join(f"# skipped {line.number}: {line.reason}\n" for line in moment.profile.skipped)
    return f"== {moment.label} at {moment.elapsed_s} s\n{out.getvalue().decode()}{skipped}"


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name.removesuffix(".moments.expected"))
def test_a_file_has_the_moments_that_its_golden_twin_says(path: Path) -> None:
    moments = moments_of(path.with_name(path.name.removesuffix(".moments.expected")).read_bytes())

    assert "".join(map(text_of, moments)) == path.read_text()
    assert {moment.profile.format for moment in moments} == {path.parent.name}


def test_a_file_of_one_moment_gives_that_one() -> None:
    (moment,) = moments_of(b"main;malloc 4096\n")

    assert (moment.profile.total(), moment.elapsed_s, moment.label) == (4096, None, "")


def test_massif_shows_its_peak_though_a_later_snapshot_is_larger() -> None:
    raw = (DATA / "massif" / "growth-between-trees.massif").read_bytes()

    totals = [moment.profile.total() for moment in moments_of(raw)]

    assert totals == [0, 4096, 12288, 12300]
    assert read_profile(io.BytesIO(raw), resolve=protocol.value_type_named).total() == 12288


def test_moments_come_one_by_one_before_the_file_is_read_to_its_end() -> None:
    head = (
        b"[10:00:00] Top 1 stacks with outstanding allocations:\n\t%d bytes in 1 allocations from stack\n\t\tmain+0x1\n"
    )
    moments = read_moments(io.BytesIO(head % 1 + head % 2 + b"\tx\0"), resolve=protocol.value_type_named)

    assert next(moments).profile.total() == 1


REPORT = (
    "[10:00:0{}] Top 1 stacks with outstanding allocations:\n\t{} bytes in 1 allocations from stack\n\t\tmain+0x1\n"
)
NOTHING = "[10:00:0{}] Top 0 stacks with outstanding allocations:\n"


def test_a_report_in_which_all_was_freed_is_a_moment_too() -> None:
    text = REPORT.format(1, 64) + NOTHING.format(3) + REPORT.format(5, 32)

    assert [(m.profile.total(), m.elapsed_s) for m in moments_of(text.encode())] == [(64, 0), (0, 2), (32, 4)]


def test_reports_that_hold_nothing_at_all_are_refused() -> None:
    with pytest.raises(EmptyProfile, match="hold no stack"):
        moments_of((NOTHING.format(1) + NOTHING.format(2)).encode())


def test_too_many_moments_are_refused_with_limit_and_value() -> None:
    text = "".join(REPORT.format(second, 64) for second in range(4))

    assert len(moments_of(text.encode(), Limits(moments=4))) == 4
    with pytest.raises(LimitExceeded, match="number of points in time is more than 3, the limit is 3"):
        moments_of(text.encode(), Limits(moments=3))


def test_a_tree_broken_off_after_whole_ones_refuses_the_file() -> None:
    raw = (DATA / "massif" / "growth-between-trees.massif").read_bytes()

    with pytest.raises(MalformedProfile, match="snapshot 2 has fewer nodes"):
        moments_of(raw[: raw.index(b"  n0: 8192")])
