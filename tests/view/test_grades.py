"""The grade of a capture, by the file that JavaScript reads too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tracer.profile.grade import grade
from tracer.protocol import CAPTURE_KEYS

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("grades.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_a_capture_has_its_grade_and_the_findings_behind_it(case: dict[str, Any]) -> None:
    verdict = grade(case["capture"], skipped_lines=case.get("skipped_lines", 0))

    assert verdict.grade == case["grade"]
    assert [[found.grade, found.cause, pytest.approx(found.share)] for found in verdict.findings] == case["findings"]


def test_cases_are_of_what_captures_hold() -> None:
    assert all(set(case["capture"]) <= set(CAPTURE_KEYS) for case in CASES)
