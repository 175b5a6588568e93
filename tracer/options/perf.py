"""Who counts in a recording: our own programs in the kernel, by bcc, or perf; and what can't be seen by perf."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.options.blocks import BLOCK_OPTIONS
from tracer.options.errors import BadOption
from tracer.options.modes import AUTO, CALLS, MODE, check_mode
from tracer.options.unwind import DWARF, FRAME_POINTERS, UNWIND, unwind_of

SOURCES = ("bcc", "perf")
SOURCE = "source"
PERF_OPTIONS = (SOURCE, MODE, UNWIND, "perf_pages")
DEFAULT_PERF_PAGES = {FRAME_POINTERS: 512, DWARF: 4096}  # of 4 kB, for each processor; an event takes 0.2 or 8 kB
MAX_PERF_PAGES = 16_384

BLIND: Mapping[str, str] = {
    "malloc": "Calls and the bytes they ask for, not what is given back: perf can’t say what is still held.",
    "brk": "Calls as with bcc; where the heap ended before the first one is taken from the table of mappings.",
    "mmap": "What is mapped, not what is unmapped again: perf can’t say what is still mapped.",
    "page_faults": "Faults as with bcc; callers of code without frame pointers only when unwound by DWARF.",
}
"""By collector, in a sentence for the person who chooses."""

# The calls of brk() and mmap() are few, and the C library's wrappers keep no frame: without DWARF the caller is lost.
_DWARF_BY_ITSELF = ("brk", "mmap")


def source_of(options: Mapping[str, int | str]) -> str:
    """BadOption for one that there is not."""
    source = options.get(SOURCE, SOURCES[0])
    if source not in SOURCES:
        raise BadOption(SOURCE, f"{source!r}, there is {' and '.join(SOURCES)}")
    return str(source)


def is_by_perf(options: Mapping[str, int | str]) -> bool:
    return source_of(options) == "perf"


def unwind_by_perf(collector: str, options: Mapping[str, int | str]) -> tuple[str, str]:
    """`fp` or `dwarf`, and why, in a sentence."""
    asked = unwind_of(options)
    if asked != AUTO:
        return asked, "It was asked for."
    if collector in _DWARF_BY_ITSELF:
        return DWARF, f"Calls of {collector}() are few, and without DWARF their callers would be missing."
    return FRAME_POINTERS, "DWARF copies 8 kB of stack for each event: ask for it if callers are missing."


def check_perf_options(collector: str, options: Mapping[str, int | str]) -> None:
    """BadOption for a source that there is not, and with perf for what perf does not know."""
    if not is_by_perf(options):
        if "perf_pages" in options:
            raise BadOption("perf_pages", f"{options['perf_pages']!r}, but the source is not perf: leave it out")
        return
    for name, value in options.items():
        if name in BLOCK_OPTIONS:
            raise BadOption(name, f"{value!r}, but perf follows no blocks: leave it out, or use the source bcc")
        if name not in PERF_OPTIONS:
            raise BadOption(name, f"{value!r}, but perf has no such option, it has {', '.join(PERF_OPTIONS)}")
    unwind_of(options)
    check_mode(collector, options)
    if options.get(MODE, CALLS) not in (AUTO, CALLS):
        raise BadOption(MODE, f"{options[MODE]!r}, but perf follows no blocks: mode {CALLS} is what it counts")
    pages = options.get("perf_pages", 1)
    if not isinstance(pages, int) or not 1 <= pages <= MAX_PERF_PAGES or pages & (pages - 1):
        raise BadOption("perf_pages", f"{pages!r}, it must be a power of two from 1 to {MAX_PERF_PAGES:,}")
