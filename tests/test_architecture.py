"""The directions that the design fixes, checked by import-linter and by what modules load."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _loaded_by(statement: str) -> set[str]:
    """Top modules that a fresh interpreter has after the statement."""
    code = f"import sys; {statement}; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_imports_go_one_way() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(lint), "--no-cache"], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout


def test_the_command_line_starts_without_heavy_packages() -> None:
    loaded = _loaded_by("import tracer.commands")

    assert not loaded & {"numpy", "bcc", "celery", "httpx", "typer", "django", "rich"}


def test_the_tracing_child_loads_no_parser_of_foreign_files_and_no_numpy() -> None:
    loaded = _loaded_by("import tracer.collectors, tracer.collectors.session")

    assert not loaded & {"numpy", "django", "celery", "httpx", "tracer.profile.formats", "tracer.profile.tree"}


def test_collectors_import_without_bcc() -> None:
    assert "bcc" not in _loaded_by("import tracer.collectors")


def test_bcc_is_the_systems_package_and_no_requirement() -> None:
    """The `bcc` of the package index is another project."""
    listed = [path.read_text() for path in [*(ROOT / "requirements").glob("*.in"), ROOT / "tracer" / "pyproject.toml"]]

    assert not [text for text in listed if re.search(r"^\s*[\"']?bcc\b", text, re.MULTILINE)]
    assert "python3-bpfcc" in (ROOT / "Makefile").read_text()


def test_every_collector_that_counts_in_the_kernel_has_a_c_file_and_a_python_file() -> None:
    from tracer.protocol import TRACED

    for name in TRACED:
        for suffix in (".py", ".c"):
            assert (ROOT / "tracer" / "collectors" / f"{name}{suffix}").exists(), f"{name}{suffix}"


def test_top_level_folders_are_those_of_the_design() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    folders = {line.split("/")[0] for line in tracked if "/" in line}

    assert folders == {".ci", "docs", "frontend", "requirements", "tests", "tracer", "webapp"}
