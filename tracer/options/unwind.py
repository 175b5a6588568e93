"""The option of a malloc recording that says how its stacks are found."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.options.blocks import COLLECTOR
from tracer.options.errors import BadOption

UNWIND = "unwind"
AUTO, FRAME_POINTERS, DWARF = "auto", "fp", "dwarf"
UNWINDS: Mapping[str, str] = {
    AUTO: "Frame pointers if all main modules keep them, else unwind tables",
    FRAME_POINTERS: "Frame pointers: cheapest, callers in code without them are missing",
    DWARF: "Unwind tables: right in code without frame pointers too",
}


def unwind_of(options: Mapping[str, int | str]) -> str:
    """Of a run spec's options; BadOption for a value that can't be."""
    value = options.get(UNWIND, AUTO)
    if value not in UNWINDS:
        raise BadOption(UNWIND, f"{value!r}, there is {', '.join(UNWINDS)}")
    return str(value)


def check_unwind(collector: str, options: Mapping[str, int | str]) -> None:
    """BadOption for a value that can't be, and for a collector that has no choice."""
    unwind_of(options)
    if UNWIND in options and collector != COLLECTOR:
        raise BadOption(UNWIND, f"{options[UNWIND]!r}, but {collector} has no choice: leave it out, or use {COLLECTOR}")
