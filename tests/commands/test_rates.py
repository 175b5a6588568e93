"""`memflame rates`: wrong usage, and the lines that it prints."""

from __future__ import annotations

import json

import pytest

from tracer.collectors.rates import Rates
from tracer.commands import main
from tracer.commands.rates_view import Lines, Table

BUSY = Rates(
    {"malloc": 1_234_567.8, "free": None, "brk": 0, "mmap": 0.25, "munmap": 9.96, "minor": 12.4, "major": 0}, 71, "svc"
)


@pytest.mark.parametrize(
    "arguments, reason",
    [
        ([], "give either --pid or --all"),
        (["--pid", "1", "--all"], "give either --pid or --all"),
        (["--all", "--interval", "0.01"], "--interval is 0.01 s, it must be from 0.1 to 3,600 s"),
        (["--pid", "1", "--top", "3"], "--top goes with --all only"),
        (["--pid", "1", "--malloc"], "--malloc goes with --all only"),
        (["--pid", "1", "--count", "-1"], "Input should be greater than or equal to 0"),
    ],
)
def test_wrong_usage_is_refused_with_its_reason(capsys, arguments, reason):
    with pytest.raises(SystemExit) as refusal:
        main(["rates", *arguments])

    assert refusal.value.code == 2
    assert reason in " ".join(capsys.readouterr().err.split())


def test_a_line_has_the_time_first_and_its_rates_under_their_names():
    table = Table(names_processes=False)

    assert table.header.split() == ["time", "malloc", "free", "brk", "mmap", "munmap", "minor", "major"]
    assert table.line(3.0004, 1.0, BUSY).split() == ["3.000", "1,234,568", "-", "0", "0.2", "10", "12", "0"]
    assert len(table.line(3.0, 1.0, BUSY)) == len(table.header.rstrip("\n"))


def test_lines_of_all_processes_end_with_which_one():
    table = Table(names_processes=True)

    assert table.header.split()[-2:] == ["pid", "command"]
    assert table.line(1.0, 1.0, BUSY).split()[-2:] == ["71", "svc"]
    assert table.line(1.0, 1.0, Rates(BUSY.a_second)).endswith(" all")


def test_a_command_cannot_write_to_the_terminal():
    hostile = Rates(BUSY.a_second, 71, "\x1b[2J\nsvc")

    assert Table(names_processes=True).line(1.0, 1.0, hostile).endswith("?[2J?svc")


def test_machines_get_numbers_and_null_for_what_was_not_counted():
    line = json.loads(Lines().line(3.0004, 0.9996, BUSY))

    assert line == {"time_s": 3.0, "seconds": 0.9996, "pid": 71, "command": "svc", **BUSY.a_second}
