"""The first bytes of a file to whether it is a table of numbers, which tracer.procfs reads, and not stacks."""

from __future__ import annotations

import re

from tracer.profile.formats.text import head_text

# By kind. Any text could be folded stacks, so these are asked first, and are sure of what they say.
_BEGINNINGS = {
    "pidstat": re.compile(r"\s*Linux \S+ \([^()\n]*\)[ \t]+\S[^\n]*\(\d+ CPU\)[ \t]*\n"),
    "pidstat_json": re.compile(r'\s*\{\s*"sysstat"\s*:'),
    "smaps": re.compile(r"[0-9a-f]+-[0-9a-f]+ [-r][-w][-x][-ps] [^\n]*\n(?:Size|Rss): +\d+ kB"),
    "meminfo": re.compile(r"MemTotal:\s+\d+ kB\s*\n"),
}


def table_kind(head: bytes) -> str | None:
    """The name of its reader in tracer.procfs."""
    text = head_text(head[:_LOOKED_AT])
    return next((kind for kind, beginning in _BEGINNINGS.items() if beginning.match(text)), None)


_LOOKED_AT = 4096
