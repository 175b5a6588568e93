"""Names in recorded stacks: inlined functions, lines, JIT code, and what has no name."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tracer.symbols.build_id import build_id_of


def test_an_inlined_function_is_a_frame_between_its_caller_and_what_it_calls(launch, record):
    recorded = record(launch("inlined-lines"), "malloc")

    assert recorded.tails("parse_table") == {("parse_row", "make_row", "malloc")}
    assert recorded.values("make_row") == (19 * 32, 19, 19 * 32, 19)


def test_frames_end_with_file_and_line_when_asked(launch, record):
    recorded = record(launch("inlined-lines"), "malloc", lines=1)

    ((parse_row, make_row, malloc),) = recorded.tails("parse_table (inlined.c:16)")
    assert (parse_row, make_row, malloc) == ("parse_row (inlined.c:10)", "make_row (inlined.c:6)", "malloc")


@pytest.fixture
def jitted(launch):
    workload = launch("jitted")
    yield workload
    Path(f"/tmp/perf-{workload.pid}.map").unlink(missing_ok=True)


def test_code_of_a_jit_compiler_has_the_name_that_its_map_tells(jitted, record):
    recorded = record(jitted, "malloc")

    assert recorded.tails("call_made_code") == {("LazyCompile:*loadIndex /srv/app/index.js:12:20", "malloc")}
    assert recorded.values("call_made_code") == (29 * 64, 29, 29 * 64, 29)


def test_modules_of_unresolved_frames_are_told_by_their_build_id(programs, launch, record, tmp_path):
    stripped = tmp_path / "inlined-stripped"
    subprocess.run(["strip", "-o", stripped, programs / "inlined"], check=True)
    recorded = record(launch(stripped, "env"), "malloc")

    with stripped.open("rb") as file:
        assert recorded.capture["build_ids"]["inlined-stripped"] == build_id_of(file.fileno())
    assert recorded.capture["unresolved_frames"] >= 3
    json.dumps(recorded.capture)
