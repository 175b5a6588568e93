"""Options of a recording by perf: what is refused, in words, and what follows from them."""

from __future__ import annotations

import pytest

from tracer.options.errors import BadOption
from tracer.options.perf import BLIND, check_perf_options, is_by_perf, unwind_by_perf
from tracer.perf.calls import COUNTINGS
from tracer.protocol import TRACED, RunSpec, value_types_of


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"source": "dtrace"}, "option source is 'dtrace', there is bcc and perf"),
        ({"source": "perf", "older_than": "30s"}, "option older_than is '30s', but perf follows no blocks"),
        ({"source": "perf", "max_stacks": 16}, "option max_stacks is 16, but perf has no such option"),
        ({"source": "perf", "unwind": "lbr"}, "option unwind is 'lbr', there is auto, fp, dwarf"),
        ({"source": "perf", "mode": "exact"}, "option mode is 'exact', but perf follows no blocks: mode calls is what"),
        ({"source": "perf", "perf_pages": 3}, "option perf_pages is 3, it must be a power of two from 1 to 16,384"),
        ({"perf_pages": 4}, "option perf_pages is 4, but the source is not perf"),
    ],
)
def test_it_refuses(options: dict[str, int | str], words: str) -> None:
    with pytest.raises(BadOption, match=words):
        check_perf_options("malloc", options)


def test_a_spec_from_the_site_is_checked() -> None:
    spec = RunSpec("r-1", "malloc", 1, options={"source": "dtrace"}).to_dict()

    with pytest.raises(ValueError, match="option source is 'dtrace'"):
        RunSpec.from_dict(spec)


@pytest.mark.parametrize("collector", TRACED)
def test_each_collector_counts_its_value_types_and_says_what_it_can_not_see(collector: str) -> None:
    names = [known.name for known in value_types_of(collector, {"source": "perf"})]

    assert names == list(COUNTINGS[collector].names)
    assert BLIND[collector].endswith(".")


def test_levels_are_no_value_types_of_perf() -> None:
    kinds = {known.kind for name in TRACED for known in value_types_of(name, {"source": "perf"})}

    assert kinds == {"flow"}


def test_callers_come_by_dwarf_where_the_calls_are_few() -> None:
    assert {name: unwind_by_perf(name, {})[0] for name in TRACED} == {
        "malloc": "fp",
        "brk": "dwarf",
        "mmap": "dwarf",
        "page_faults": "fp",
    }
    assert unwind_by_perf("malloc", {"unwind": "dwarf"})[0] == "dwarf"


def test_calls_is_the_mode_of_perf() -> None:
    for mode in ("calls", "auto"):
        check_perf_options("malloc", {"source": "perf", "mode": mode})


def test_bcc_is_the_source_that_nobody_asked_for() -> None:
    assert not is_by_perf({})
    assert not is_by_perf({"source": "bcc"})
    assert is_by_perf({"source": "perf"})
