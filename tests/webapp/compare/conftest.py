"""Two runs to compare, and a client of the comparison's addresses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from webapp.runs.models import Run

BEFORE = b"""# memflame-folded 1
# values: outstanding_bytes allocated_bytes
# capture: {"collector": "malloc", "elapsed_s": 10.0}
main;serve;leak 100 100
main;serve;gone 30 60
"""
AFTER = b"""# memflame-folded 1
# values: outstanding_bytes allocated_bytes
# capture: {"collector": "malloc", "elapsed_s": 10.0}
main;serve;leak 500 500
main;serve;new 40 40
"""


@pytest.fixture
def two_runs(uploaded_run: Callable[..., Run]) -> tuple[Run, Run]:
    """Before and after, a day apart."""
    facts = {"service": "search-api"}
    return (
        uploaded_run(BEFORE, taken_at=datetime(2026, 11, 1, tzinfo=UTC), deploy="1.0", **facts),
        uploaded_run(AFTER, taken_at=datetime(2026, 11, 2, tzinfo=UTC), deploy="1.1", **facts),
    )
