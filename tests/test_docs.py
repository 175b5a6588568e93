"""The documents tell the truth: every setting, command, collector, format and dependency has its row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

from tracer.commands import COMMANDS
from tracer.protocol import COLLECTORS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
_TOOL_BUGS = [*(f"T{number}" for number in range(35, 44)), "T48"]
_VIEWER_FAULTS = [*(f"T{number}" for number in range(18, 35)), "T47", "T49", "T50", "T51"]
PAGES = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]


def _page(name: str) -> str:
    return (ROOT / name).read_text()


def test_every_setting_is_listed_with_its_default() -> None:
    from webapp.env import SETTINGS

    assert settings.configured
    page = _page("docs/settings.md")
    for setting in SETTINGS.values():
        assert f"`{setting.name}`" in page, setting.name


def test_every_listed_setting_exists() -> None:
    from webapp.env import SETTINGS

    listed = set(re.findall(r"^\| `(MEMFLAME_[A-Z_]+)`", _page("docs/settings.md"), re.MULTILINE))

    assert listed - set(SETTINGS) <= {"MEMFLAME_TOKEN", "MEMFLAME_BROKER"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    assert f"memflame {command}" in "\n".join(path.read_text() for path in DOCS.glob("*.md"))


@pytest.mark.parametrize("collector", COLLECTORS)
def test_every_collector_and_its_value_types_are_documented(collector: str) -> None:
    page = _page("docs/collectors.md")

    assert f"`{collector}`" in page
    for value_type in COLLECTORS[collector].value_types:
        assert f"`{value_type.name}`" in page, value_type.name


def test_every_format_is_documented() -> None:
    from tracer.profile.formats import FORMATS

    page = _page("docs/formats.md")
    for format_name in FORMATS:
        assert f"`{format_name}`" in page, format_name


def test_every_dependency_says_what_it_saves_us() -> None:
    page = _page("docs/dependencies.md")
    for listing in (ROOT / "requirements").glob("*.in"):
        for line in listing.read_text().splitlines():
            name = re.match(r"[A-Za-z0-9_-]+", line)
            if name and not line.startswith(("#", "-r")):
                assert f"`{name[0]}`" in page, name[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), target


def test_each_pitfall_has_a_test_that_exists() -> None:
    rows = [row for row in _page("docs/pitfalls.md").splitlines() if re.match(r"\| [T\d]+ \|", row)]

    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [*map(str, range(1, 49)), *_TOOL_BUGS]
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)(?:\[([\w ]+)\])?`", row)
        assert named or "no collector" in row, row
        for file, test, case in named:
            text = _page(file)
            assert f"def {test}(" in text, (file, test)
            assert case in text, (file, case)


def test_each_pitfall_of_viewers_has_a_test_that_exists() -> None:
    rows = [row for row in _page("docs/viewer-pitfalls.md").splitlines() if re.match(r"\| \d+ \|", row)]

    assert [int(row.split(" | ")[0].removeprefix("| ")) for row in rows] == list(range(1, 21))
    for row in rows:
        named = re.findall(r"`(tests/[\w/.-]+)::([^`]+)`", row)
        assert named, row
        for file, test in named:
            assert test in _page(file), (file, test)


def test_each_fault_of_other_tools_has_a_test_that_exists() -> None:
    rows = [row for row in _page("docs/peer-faults.md").splitlines() if re.match(r"\| [TP]\d+ \|", row)]

    assert len(rows) >= 30
    assert {row.split(" | ")[0].removeprefix("| ") for row in rows} >= set(_VIEWER_FAULTS)
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        in_javascript = re.findall(r'`(tests/[\w./-]+\.mjs)`: "(\w+)"', row)
        assert named or in_javascript, row
        for file, test in named:
            assert f"def {test}(" in _page(file), (file, test)
        for file, number in in_javascript:
            assert f'test("{number}: ' in _page(file), (file, number)


def test_lock_files_carry_hashes_and_no_address() -> None:
    for lock in (ROOT / "requirements").glob("*.txt"):
        text = lock.read_text()
        assert "--hash=sha256:" in text
        assert "://" not in text
        assert "--index-url" not in text
