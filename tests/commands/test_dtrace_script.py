"""`memflame dtrace-script`: its script writes what the importer of its log reads."""

from __future__ import annotations

import io
import re

import pytest

from tracer import protocol
from tracer.commands import main
from tracer.profile.formats import read_profile


def script(capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["dtrace-script"])
    assert not ended.value.code
    return capsys.readouterr().out


def test_every_line_that_the_script_prints_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    printed = re.findall(r'printf\("(.*?)\\n"', script(capsys))
    lines = [text.replace("%d", "64", 1).replace("%d", "100").replace("%x", "1000") for text in printed if text]

    profile = read_profile(io.BytesIO("\n".join(lines).encode()), resolve=protocol.value_type_named)

    assert profile.format == "dtrace_events"
    assert profile.skipped_lines == 0
    assert {line.split()[0] for line in lines} == {"#", "malloc", "realloc", "free"}


def test_every_allocator_that_begins_also_ends(capsys: pytest.CaptureFixture[str]) -> None:
    """Or the depth of nested calls would never come down again."""
    clauses = script(capsys).split("}\n")
    begun = next(clause for clause in clauses if "self->depth++" in clause)
    ended = next(clause for clause in clauses if "self->depth--" in clause)

    assert re.findall(r"::(\w+):entry", begun) == re.findall(r"::(\w+):return", ended)
