"""`memflame diff`: the union of two profiles' stacks with both values."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.profile.made_files import pprof
from tracer.commands import main

Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write_file


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["diff", *arguments])
    code = ended.value.code
    return code if isinstance(code, int) else int(code is not None)


def test_it_prints_the_union_sorted(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = write("a", "main;old 5\nmain;same 3\nmain 1\n"), write("b", "main;same 4\nmain;new 2\nmain 1\n")

    assert run(before, after) == 0

    assert capsys.readouterr().out == "main 1 1\nmain;new 0 2\nmain;old 5 0\nmain;same 3 4\n"


def test_a_profile_and_itself_have_equal_columns(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    same = write("a", "a;b 5\na;c 2.5\n")

    run(same, same)

    assert capsys.readouterr().out == "a;b 5.0 5.0\na;c 2.5 2.5\n"


def test_normalizing_scales_the_values_before_and_cuts_none_to_0(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = write("a", "a;x 9\na;y 1\n"), write("b", "a;x 4\na;y 1\n")

    assert run(before, after, "--normalize") == 0

    assert capsys.readouterr().out == "a;x 4.5 4\na;y 0.5 1\n"


def test_normalizing_keeps_whole_numbers_whole(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    run(write("a", "a 1\nb 2\n"), write("b", "a 5\nb 4\n"), "--normalize")

    assert capsys.readouterr().out == "a 3 5\nb 6 4\n"


def test_normalizing_a_total_of_0_is_refused(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(write("a", "a 0\n"), write("b", "a 5\n"), "--normalize") == 1

    assert "totals are 0 before and 5 after: no factor makes them equal" in capsys.readouterr().err


def test_it_takes_the_first_value_type_that_both_have(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    before = write("a", "# memflame-folded 1\n# values: heap_bytes calls\nmain 4096 1\n")
    after = write("b", "# memflame-folded 1\n# values: calls failed_calls\nmain 3 0\n")

    run(before, after)

    assert capsys.readouterr().out == "main 1 3\n"


def test_without_a_common_value_type_it_says_what_there_is(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    before = write("a", "# memflame-folded 1\n# values: heap_bytes\nmain 4096\n")

    assert run(before, write("b", "main 3\n")) == 1

    assert "the sides have no value type in common: heap_bytes before, value after" in capsys.readouterr().err


def test_sides_in_other_units_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [tmp_path / unit for unit in ("bytes", "kilobytes")]
    for side in sides:
        side.write_bytes(pprof(["main"], counts=("inuse_space", side.name)))

    assert run(*map(str, sides), "--normalize") == 1

    assert "inuse_space is in bytes before and in kilobytes after: one can't be taken" in capsys.readouterr().err


def test_samples_of_other_rates_are_compared_by_their_shares_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = [tmp_path / ms for ms in ("1", "10")]
    for side in sides:
        counts = 100 // int(side.name)
        side.write_bytes(pprof(["main"], counts, counts=("samples", "count"), period_ms=int(side.name)))

    assert run(*map(str, sides)) == 1
    assert "they stand for different amounts" in capsys.readouterr().err

    assert run(*map(str, sides), "--normalize") == 0
    assert capsys.readouterr().out == "main 10 10\n"


def test_a_side_that_cannot_be_read_is_named(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(write("a", "main 3\n"), write("empty", "")) == 1

    assert "empty was not read: the file is empty" in capsys.readouterr().err


def test_one_file_is_wrong_usage(write: Write) -> None:
    assert run(write("a", "main 3\n")) == 2


@pytest.mark.parametrize("form", ["svg", "folded", "pprof", "speedscope", "json", "csv"])
def test_a_difference_is_written_in_every_form(
    write: Write, capfdbinary: pytest.CaptureFixture[bytes], form: str
) -> None:
    before, after = write("a", "main;x 9\nmain;y 1\n"), write("b", "main;x 4\nmain;z 1\n")

    assert run(before, after, "--to", form, "--normalize") == 0

    written = capfdbinary.readouterr().out
    text = gzip.decompress(written) if form == "pprof" else written
    assert all(name in text for name in (b"x", b"y", b"z"))
    assert form in ("folded", "csv") or b"values before times 0.5" in text


def test_a_form_that_there_is_not_is_wrong_usage(write: Write) -> None:
    same = write("a", "a 1\n")

    assert run(same, same, "--to", "png") == 2
    assert run(same, same, "--to", "svg", "--width-by", "x") == 2
