"""The words on a capture's quality, by the file that JavaScript reads too."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from webapp.flamegraph.quality import capture_quality

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("quality.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_a_capture_has_its_words(case: dict[str, Any]) -> None:
    quality = capture_quality(case["capture"], skipped_lines=case["skipped_lines"], unit=case["unit"])

    assert (quality.level, quality.word) == (case["level"], case["word"])
    assert [list(figure) for figure in quality.figures] == case["figures"]
    assert quality.notes == case["notes"]
    assert (asdict(quality.banner) if quality.banner else None) == case["banner"]
