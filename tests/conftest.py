"""Time budgets of the kinds of tests, and the rule that nothing is skipped in CI."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracer.symbols.store import FOLDER_ENV

BUDGET_S = {"ebpf": 900, "browser": 720, "services": 180, "the rest": 480}  # two halves run side by side
_spent_s: dict[str, float] = defaultdict(float)


@pytest.fixture(scope="session", autouse=True)
def name_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of binaries are kept for this run of the tests only, also by the recordings that it starts as processes."""
    folder = tmp_path_factory.mktemp("names")
    os.environ[FOLDER_ENV] = str(folder)
    yield folder
    del os.environ[FOLDER_ENV]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """An SQLite test database of this run alone: two runs side by side must not share a file."""
    from django.db import connection

    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


def _kind(item_or_report: pytest.Item | pytest.TestReport) -> str:
    return next((kind for kind in BUDGET_S if kind in item_or_report.keywords), "the rest")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    """In CI a skipped test is an error: a machine that can't run it must not look green."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _spent_s[_kind(report)] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for kind, budget in BUDGET_S.items():
        if kind in _spent_s:
            over = "  OVER BUDGET" if _spent_s[kind] > budget else ""
            terminalreporter.write_line(f"{kind:10} {_spent_s[kind]:6.1f} s of {budget} s{over}")
