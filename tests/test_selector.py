"""What a person can write to say which processes a run records."""

from __future__ import annotations

import pytest

from tracer.protocol import RunSpec
from tracer.selector import BadSelector, Selector


def test_pids_keep_their_start_times() -> None:
    selector = Selector.of_pids([(4711, 8812045), (4712, 0)])

    assert str(selector) == "pids:4711@8812045,4712"
    assert Selector.parse(str(selector)).pids == {4711: 8812045, 4712: 0}


def test_a_unit_without_a_kind_is_a_service() -> None:
    assert Selector.of("unit", "nginx").text == "nginx.service"
    assert Selector.of("unit", "session-1.scope").text == "session-1.scope"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("worker", "expected a kind and a text"),
        ("user:root", "can't be selected by 'user'"),
        ("name:", "must be 1 to"),
        ("name:a\nb", "printable"),
        ("pids:12,x", "'x' is no process number"),
        ("pids:0", "'0' is no process number"),
        ("container:4f0c", "12 to 64 digits"),
        ("container:4F0C6BD1A2E7", "of 0-9 and a-f"),
        ("unit:/system.slice/nginx.service", "not a path"),
        ("pids:" + ",".join(map(str, range(1, 66))), "these are 65 processes, the limit of a run is 64"),
    ],
)
def test_what_selects_nothing_that_can_be_is_refused(text: str, reason: str) -> None:
    with pytest.raises(BadSelector, match=reason):
        Selector.parse(text)


def test_a_run_spec_names_one_process_or_a_target() -> None:
    one = RunSpec("r-test", "brk", 4711, start_time=99)
    several = RunSpec("r-test", "brk", target="name:worker")

    assert str(one.selector) == "pids:4711@99"
    assert RunSpec.from_dict(several.to_dict()) == several


def test_a_run_spec_of_an_older_site_has_no_target() -> None:
    raw = RunSpec("r-test", "brk", 4711).to_dict()
    del raw["target"]

    assert RunSpec.from_dict(raw).pid == 4711


def test_a_run_spec_with_a_bad_target_is_refused() -> None:
    with pytest.raises(ValueError, match="no process number"):
        RunSpec.from_dict(RunSpec("r-test", "brk", target="pids:x").to_dict())
