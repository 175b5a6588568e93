"""What came instead of a profile, to a sentence that says why and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping

NOT_SAMPLED: Mapping[str, str] = {
    "jemalloc": "profiling is not enabled in that program, or has sampled nothing yet. Start it with "
    "MALLOC_CONF=prof:true,prof_active:true,lg_prof_sample:19 (of Rust’s crate: _RJEM_MALLOC_CONF)",
    "tcmalloc": "profiling is not enabled in that program, or has sampled nothing yet. Start it with "
    "TCMALLOC_SAMPLE_PARAMETER=524288",
    "pprof": "profiling is not enabled in that program, or has sampled nothing yet. In Go, import net/http/pprof, and "
    "do not set runtime.MemProfileRate to 0",
}
_REFUSAL = re.compile(
    rb"profil\w*[^.\n]{0,60}\b(?:not|isn.t|in|un|dis)[ -]?(?:\w+ ){0,2}?(?:enabled|activ\w+|abled|supported|available)"
    rb"|(?:not|without|no)\b[^.\n]{0,40}\bprofiling|prof:true|opt\.prof|heap sampling turned off",
    re.IGNORECASE,
)
_WEB_PAGE = re.compile(rb"\s*(?:<!doctype html|<html|<head|<body|<!--)", re.IGNORECASE)


def is_refusal(head: bytes) -> bool:
    """Whether the program says in its own words that its profiler is off."""
    return _REFUSAL.search(head) is not None


def is_web_page(head: bytes) -> bool:
    return _WEB_PAGE.match(head) is not None


def disabled_text(head: bytes, collector: str) -> str:
    """Of an answer that is no profile."""
    if is_refusal(head):
        return NOT_SAMPLED[collector]
    if is_web_page(head):
        return "a web page came instead of a profile: the address is another one"
    return "what came is no heap profile of jemalloc, tcmalloc or pprof"


def size_words(count: int) -> str:
    return f"{count >> 20}\N{NO-BREAK SPACE}MB" if count >= 1 << 20 else f"{count:,}\N{NO-BREAK SPACE}bytes"
