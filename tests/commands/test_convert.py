"""`memflame convert`: listing and writing, exit codes, and words for what went wrong."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tracer.commands import main

OURS = """\
# memflame-folded 1
# values: outstanding_bytes outstanding_objects
# capture: {"collector": "malloc", "pid": 7}
main;a\\;b;malloc 4096 1
main;serve 64 2
"""


@pytest.fixture
def ours(tmp_path: Path) -> str:
    path = tmp_path / "out.folded"
    path.write_text(OURS)
    return str(path)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["convert", *arguments])
    code = ended.value.code
    return code if isinstance(code, int) else int(code is not None)


def test_it_lists_value_types_with_exact_totals(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ours, "--list") == 0

    rows = json.loads(capsys.readouterr().out)
    assert rows == [
        {"name": "outstanding_bytes", "unit": "bytes", "kind": "level", "total": 4160, "stacks": 2, "skipped_lines": 0},
        {
            "name": "outstanding_objects",
            "unit": "objects",
            "kind": "level",
            "total": 3,
            "stacks": 2,
            "skipped_lines": 0,
        },
    ]


def test_totals_beyond_2_to_the_53_are_listed_exactly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "big.folded"
    path.write_text("a 9007199254740993\nb 1\n")

    run(str(path), "--list")

    assert '"total": 9007199254740994' in capsys.readouterr().out


def test_snapshots_are_numbered(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(ours, "--list", "--snapshots")

    assert [row["snapshot"] for row in json.loads(capsys.readouterr().out)] == [1, 1]


MASSIF = str(Path(__file__).parents[1] / "data" / "massif" / "growth-between-trees.massif")


def test_every_snapshot_of_a_file_is_listed_with_what_the_file_calls_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(MASSIF, "--list", "--snapshots") == 0

    rows = json.loads(capsys.readouterr().out)
    assert [(row["snapshot"], row["label"], row["elapsed_s"], row["total"]) for row in rows] == [
        (1, "massif snapshot 0", 0.0, 0), (2, "massif snapshot 1", 0.25, 4096),
        (3, "massif snapshot 2 (peak)", 0.5, 12288), (4, "massif snapshot 3", 1.75, 12300),
    ]  # fmt: skip


def test_one_snapshot_of_a_file_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(MASSIF, "--snapshot", "2") == 0

    assert capsys.readouterr().out == "main;(heap allocation functions) 4096\n"


def test_a_snapshot_that_the_file_has_not_is_refused_with_the_last_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(MASSIF, "--snapshot", "5") == 1

    assert "has no snapshot 5, the last is 4" in capsys.readouterr().err


def test_one_snapshot_and_all_of_them_is_wrong_usage() -> None:
    assert run(MASSIF, "--snapshot", "2", "--snapshots") == 2


def test_it_writes_the_first_value_type_sorted_with_plain_frames(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ours, "--to", "folded") == 0

    assert capsys.readouterr().out == "main;a:b;malloc 4096\nmain;serve 64\n"


def test_it_writes_another_value_type(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(ours, "--value", "outstanding_objects")

    assert capsys.readouterr().out == "main;a:b;malloc 1\nmain;serve 2\n"


def test_it_writes_all_value_types_in_our_form(ours: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    run(ours, "--all-values")

    assert capsysbinary.readouterr().out == OURS.encode()


def test_columns_are_read_when_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.folded"
    path.write_text("a;b 1 2\na;c 3 4\n")

    run(str(path), "--columns", "2", "--value", "value_2")

    assert capsys.readouterr().out == "a;b 2\na;c 4\n"


def test_stacks_that_become_the_same_text_add_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "same.folded"
    path.write_text("# memflame-folded 1\n# values: calls\na\\;b 1\na:b 2\nc\\nd 3\n")

    run(str(path))

    assert capsys.readouterr().out == "a:b 3\nc d 3\n"


def test_it_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a;b 3\n"))))

    run("-")

    assert capsys.readouterr().out == "a;b 3\n"


def test_skipped_lines_are_told_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.folded"
    path.write_text("a;b 3\nno value\n")

    run(str(path))

    said = capsys.readouterr()
    assert said.out == "a;b 3\n"
    assert "skipped 1 lines, the first is 2 (expected a value at its end): 'no value'" in said.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "was not read: the file is empty"),
        (
            b"\x00\x01\x02\x03" * 9,
            "was not read: the file is none of the known formats (tried: ",
        ),
        (b"a 1\nb\x00 2\n", "was not read: line 2 holds a NUL"),
    ],
)
def test_a_file_that_cannot_be_read_is_exit_code_1(
    tmp_path: Path, content: bytes, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad"
    path.write_bytes(content)

    assert run(str(path)) == 1

    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""


def test_a_missing_file_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(tmp_path / "nowhere")) == 1

    assert "nowhere was not read: No such file or directory" in capsys.readouterr().err


def test_an_unknown_value_type_is_exit_code_1(ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ours, "--value", "calls") == 1

    assert "no value type 'calls', there is outstanding_bytes, outstanding_objects" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["x", "--to", "png"], ["x", "--columns", "0"], ["x", "--nonsense"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    assert run(*arguments) == 2


def test_a_reader_that_leaves_early_sees_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "long.folded"
    path.write_text("".join(f"main;function_{number} 1\n" for number in range(50_000)))

    memflame = Path(sys.executable).with_name("memflame")

    done = subprocess.run(f"{memflame} convert {path} | head -1", shell=True, capture_output=True, text=True)

    assert done.stdout == "main;function_0 1\n"
    assert done.stderr == ""


def test_a_label_needs_a_key_and_a_value(ours: str) -> None:
    assert run(ours, "--label", "tenant") == 2


def test_a_table_is_written_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "meminfo"
    path.write_text("MemTotal: 4 kB\nMemFree: 1 kB\n")

    assert run(str(path), "--to", "json") == 0

    written = json.loads(capsys.readouterr().out)
    assert written["rows"] == [{"moment": 1, "memtotal": 4096, "memfree": 1024, "used": 3072}]


def test_a_table_is_no_folded_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "meminfo"
    path.write_text("MemTotal: 4 kB\n")

    assert run(str(path)) == 1

    assert "the file is a table (meminfo), not stacks" in capsys.readouterr().err
