"""What a process says in its environment of the heap profiles that it writes: where, and whether it makes any.

MALLOC_CONF=prof:true,prof_active:true,lg_prof_sample:19,prof_prefix:/var/log/search/jeprof
HEAPPROFILE=/var/log/search/heap
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tracer.pull.errors import PullError

WRITTEN: Mapping[str, str] = {
    "jemalloc": 'A program writes one each lg_prof_interval bytes, when it calls mallctl("prof.dump"), or as it ends',
    "tcmalloc": "A program writes one for each GB that it allocates, or when it calls HeapProfilerDump()",
    "pprof": "A program writes one when it calls pprof.WriteHeapProfile()",
}
"""By collector, when there are files."""
_CONF_VARIABLES = ("MALLOC_CONF", "_RJEM_MALLOC_CONF", "JE_MALLOC_CONF")  # of C, of Rust's crate, of prefixed builds
_DEFAULT_PREFIX = "jeprof"
_MAX_BYTES = 1 << 20
_WILD = str.maketrans({"[": "[[]", "*": "[*]", "?": "[?]"})


def environment_of(directory: Path) -> dict[str, str]:
    """Of a process in /proc, as it was started."""
    with (directory / "environ").open("rb") as file:
        words = os.fsdecode(file.read(_MAX_BYTES)).split("\0")
    return {name: text for name, separator, text in (word.partition("=") for word in words) if separator}


def own_pattern(collector: str, environment: Mapping[str, str]) -> str:
    """Of the paths that it writes to, relative to its working directory if it says so; PullError if it writes none."""
    if collector == "tcmalloc":
        prefix = _unmarked(environment.get("HEAPPROFILE", ""))
        if not prefix:
            raise PullError(
                "the process was started without HEAPPROFILE, so it writes no heap profiles: give an address or files, "
                "or start it with HEAPPROFILE=/var/log/NAME"
            )
        return f"{prefix.translate(_WILD)}[._]*.heap"
    conf = malloc_conf(environment)
    if conf.get("prof") != "true":
        raise PullError(
            "the process was started without prof:true in MALLOC_CONF, so it writes no heap profiles: start it with "
            "MALLOC_CONF=prof:true,prof_active:true,lg_prof_sample:19, or give an address or files"
        )
    prefix = conf.get("prof_prefix", _DEFAULT_PREFIX)
    if not prefix:
        raise PullError("MALLOC_CONF of the process has an empty prof_prefix, so it writes no heap profiles by itself")
    return f"{prefix.translate(_WILD)}.*.heap"


def _unmarked(prefix: str) -> str:
    """gperftools sets the highest bit of the first byte, to tell the processes that it starts to add their pid."""
    raw = os.fsencode(prefix)
    return os.fsdecode(bytes([raw[0] & 0x7F]) + raw[1:]) if raw else ""


def malloc_conf(environment: Mapping[str, str]) -> dict[str, str]:
    """The options of jemalloc; of one that is given twice the last, as jemalloc reads them."""
    text = next((environment[name] for name in _CONF_VARIABLES if name in environment), "")
    return {name.strip(): value.strip() for name, _, value in (word.partition(":") for word in text.split(","))}
