"""What a person reads on the terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from tracer.collectors import Progress
from tracer.commands.recording_view import amount, attached_text, events_text, summary_text, view_of
from tracer.profile.model import Profile
from tracer.protocol import COLLECTORS, RunSpec

SPEC = RunSpec("", "brk", 42, duration_s=10)


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (0, "bytes", "0 B"),
        (1023, "bytes", "1023 B"),
        (94_208, "bytes", "92.0 kB"),
        (1_048_575, "bytes", "1.0 MB"),
        (3 << 40, "bytes", "3,072.0 GB"),
        (-20_480, "bytes", "\N{MINUS SIGN}20.0 kB"),
        (1009, "faults", "1,009 faults"),
    ],
)
def test_an_amount_has_its_unit_behind_a_no_break_space(value, unit, text):
    assert amount(value, unit) == text.replace(" ", "\N{NO-BREAK SPACE}")


def test_losses_are_named_by_their_cause():
    assert events_text(Progress(2041, {})) == "2,041 events"
    assert events_text(Progress(5, {"ring_buffer_full": 3})) == "5 events, 3 lost: the ring buffer was full"


def test_without_a_terminal_plain_lines_are_written():
    out = io.StringIO()
    profile = Profile(COLLECTORS["brk"].value_types)
    profile.add(("main", "brk"), (-20_480, 1, 0))

    with view_of(SPEC, out) as view:
        view.on_attached()
        view.on_progress(1.0, Progress(1))
        view.on_progress(5.5, Progress(3))
        view.on_snapshot(1, 10.0, profile, is_last=True)

    lines = out.getvalue().splitlines()
    assert lines[:2] == ["attached to 42, recording brk for 10 s", "6 s: 3 events"]
    assert lines[2].endswith("\N{MINUS SIGN}20.0\N{NO-BREAK SPACE}kB  Bytes by which brk() moved the end of the heap")


def test_the_summary_tells_of_losses_and_cut_stacks():
    profile = Profile(COLLECTORS["brk"].value_types)
    profile.capture = {"lost": {"ring_buffer_full": 7}, "truncated_stacks": 2, "broken_unwinds": 3}

    text = summary_text(profile)

    assert "7  events lost: the ring buffer was full" in text
    assert "2  stacks without their root: they had" in text
    assert "3  stacks without their root: unwinding broke off" in text


def test_the_summary_ends_with_the_grade_and_what_the_recording_took():
    profile = Profile(COLLECTORS["brk"].value_types)
    profile.capture = {
        "events": 93, "lost": {"ring_buffer_full": 7}, "shares": {"unresolved": 0.3}, "overhead": {"share": 0.0312},
    }  # fmt: skip

    lines = [line.strip().replace("\N{NO-BREAK SPACE}", " ") for line in summary_text(profile).splitlines()[-2:]]

    assert lines == [
        "D  grade of the capture, A to D: 7.0 % of events were lost; 30.0 % of the graph has no name",
        "3.1 %  of one core was taken by the recording",
    ]


def test_several_processes_and_their_children_are_told_by_their_numbers():
    several = replace(SPEC, target="pids:42@7,43", options={"follow_children": 1})

    assert attached_text(SPEC) == "attached to 42, recording brk for 10 s"
    assert attached_text(several) == "attached to 2 processes (42, 43) and their children, recording brk for 10 s"
