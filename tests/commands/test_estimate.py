"""`memflame record --estimate`: wrong usage, and the table that a person reads."""

from __future__ import annotations

import pytest

from tracer.commands import main
from tracer.commands.estimate import percent, slowdown, table_of
from tracer.prices import MOST_SLOWDOWN, RATES, Estimate, Price

A_SECOND = dict.fromkeys(RATES, 0.0) | {"malloc": 8412.4, "brk": 0.3}
PRICES = (
    Price("malloc", "exact", 0.033, 0.512, 0.0, 125_566_976),
    Price("mmap", "", 0.0002, 0.0, 0.004, 19_214_336, is_recommended=True),
)


def table(width=120, **changes):
    given = {"seconds": 3.0, "a_second": A_SECOND, "callers": 1120, "prices": PRICES, "notes": ("A note.",)}
    return table_of(Estimate(**given | changes), width).replace("\N{NO-BREAK SPACE}", " ").splitlines()


@pytest.mark.parametrize("seconds", ["0.4", "61"])
def test_a_time_out_of_range_is_refused(capsys, seconds):
    with pytest.raises(SystemExit) as refusal:
        main(["record", "--pid", "1", "--estimate", "--estimate-seconds", seconds])

    assert refusal.value.code == 2
    assert f"--estimate-seconds is {seconds} s, it must be from 0.5 to 60 s" in " ".join(
        capsys.readouterr().err.split()
    )


def test_it_begins_with_what_was_counted():
    assert table()[0] == "Counted for 3.0 s, events a second: 8,412 allocations from 1,120 places, 0 frees,"
    assert table()[1].startswith("0.3 brk, 0 mmap")


def test_each_way_to_record_has_its_price_and_what_it_does_not_see():
    exact = next(line for line in table() if "malloc, exact" in line)

    assert exact.startswith("  malloc, exact           3.3 %     51.2 %     0.0 %  119.8 MB  Memory mapped by hand")


def test_the_recommended_one_is_marked():
    assert [line.split()[1] for line in table() if line.startswith("* ") and "recommended" not in line] == ["mmap"]
    assert table()[-2:] == ["* recommended: the most telling that takes 10.0 % of one core or less.", "A note."]


def test_it_says_so_when_nothing_fits():
    lines = table(prices=PRICES[:1])

    assert lines[-2].startswith("Nothing takes 10.0 % of one core or less")


def test_no_line_is_wider_than_the_terminal():
    assert max(map(len, table(width=100))) <= 100


def test_small_and_large_shares_are_told_as_such():
    words = [percent(0.0004), percent(1.5), slowdown(None), slowdown(MOST_SLOWDOWN), slowdown(0.05)]

    assert [word.replace("\N{NO-BREAK SPACE}", " ") for word in words] == [
        "< 0.1 %",
        "150.0 %",
        "–",
        "over × 10",
        "5.0 %",
    ]
