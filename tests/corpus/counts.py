"""Counts of a source that were made apart from any tool, checked against what we read of it, by folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.corpus import proc_counts
from tests.corpus.files import read, source_of, totals_of
from tracer.profile import tree
from tracer.profile.errors import EmptyProfile, MalformedProfile, ProfileError
from tracer.profile.export.folded import plain_stack
from tracer.profile.formats.strace_memory import CALLS
from tracer.profile.model import Profile

Want = Mapping[str, Any]


def check(path: Path) -> None:
    """KeyError: a folder that nothing is known of."""
    _CHECKS[path.parent.name](source_of(path), json.loads(path.read_text()))


def _refuses(source: Path, error: type[ProfileError], words: str) -> None:
    with pytest.raises(error, match=words):
        read(source)


def _folded(source: Path, want: Want) -> None:
    if want["lines"] == 0:
        return _refuses(source, EmptyProfile, "the file is empty")
    profile = read(source)
    call_tree = tree.build(profile)
    assert profile.total() == pytest.approx(want["total"], rel=1e-12)
    assert call_tree.total(0) == pytest.approx(want["total"], rel=1e-12)
    assert profile.skipped_lines == want["bad_lines"]
    assert profile.value_types[0].is_float == bool(want["fractional_lines"])
    if b"; " not in source.read_bytes():  # the counts took an empty last frame for a frame, we drop it
        assert profile.stack_count == want["unique_stacks"]
        assert len(call_tree.levels) - 1 == want["max_depth"]


def _perf_script(source: Path, want: Want) -> None:
    events = want["events"]
    if not events:
        return _refuses(source, EmptyProfile, "the file is empty")
    if not want["frames"] and not any(_totals_with_frames(source)):
        return _refuses(source, EmptyProfile, "has a stack: record with")
    profile = read(source)
    totals = totals_of(profile)
    for name, event in events.items():
        assert totals.get(name.lower(), totals.get(f"{name}.calls")) == event["period_sum"]
        if event["payload_sum"] and f"{name}.bytes" in totals:
            assert totals[f"{name}.bytes"] == event["payload_sum"]
    assert len({stack[0] for stack, _ in profile.rows()}) == want["comms"]


def _totals_with_frames(source: Path) -> list[float]:
    """The counts know frames with a module only."""
    try:
        return list(totals_of(read(source)).values())
    except EmptyProfile:
        return []


def _stackcount(source: Path, want: Want) -> None:
    if "lines" in want:  # it can write folded text; the counts pass over the mark of lines left out of a document
        return _folded(source, {**want, "bad_lines": want["bad_lines"] + source.read_text().count("\n[...]")})
    profile = read(source)
    assert profile.total() == want["total"]
    assert profile.stack_count <= want["unique_stacks"]  # which have offsets, in old versions
    if want["by_comm"]:
        values: Counter[str] = Counter()
        for stack, (value,) in profile.rows():
            values[stack[0]] += int(value)
        assert values == want["by_comm"]


def _memleak(source: Path, want: Want) -> None:
    if not want["reports"]:
        return _refuses(source, ProfileError, "memleak printed no report|lines are a stack with its value")
    last = want["reports"][-1]
    profile = read(source)
    assert totals_of(profile) == {"outstanding_bytes": last["bytes"], "outstanding_objects": last["allocations"]}
    assert profile.stack_count <= last["stacks"]


def _bpftrace(source: Path, want: Want) -> None:
    if not want["maps"]:
        return _refuses(source, EmptyProfile, "the file is empty")
    sums = {(name.removeprefix("@") or "value"): known["sum"] for name, known in want["maps"].items()}
    assert totals_of(read(source)) == {name: total for name, total in sums.items() if total}


def _sampled_heap(source: Path, want: Want) -> None:
    if "unsampled" not in want:
        return _refuses(source, MalformedProfile, "of this family only profiles of the heap are read")
    wanted = {name.replace("space", "bytes"): total for name, total in want["unsampled"].items()}
    totals = totals_of(read(source))
    assert totals == pytest.approx({name: wanted[name] for name in totals}, abs=0.06)
    assert all(not total for name, total in wanted.items() if name not in totals) or _repeats_itself(wanted)


def _repeats_itself(totals: Mapping[str, float]) -> bool:
    """Allocated is what is in use where a tool does not count it."""
    return totals["alloc_bytes"] == totals["inuse_bytes"]


def _massif(source: Path, want: Want) -> None:
    if not want["tree_nodes"]:
        return _refuses(source, EmptyProfile, f"none of massif's snapshots, {want['snapshots']} in all, has a tree")
    profile = read(source)
    assert profile.total() == want["peak_root_bytes"]
    assert profile.capture["command"] == want["cmd"]


def _heaptrack(source: Path, want: Want) -> None:
    names = ("allocations", "temporary", "peak_bytes", "leaked_bytes")
    assert totals_of(read(source)) == {name: want[name] for name in names}


def _pprof(source: Path, want: Want) -> None:
    profile = read(source)
    names = [text.partition("/")[0].lower() for text in want["sample_types"]]
    assert totals_of(profile) == dict(zip(names, want["totals"], strict=True))
    assert profile.value_types[0].name == names[want["default_index_rule"]]
    assert profile.stack_count <= want["unique_stacks"]
    leaves = _leaves(profile)
    assert {name: leaves[plain_stack((name,))] for name, _ in want["top_leaf_by_default"]} == dict(
        want["top_leaf_by_default"]
    )


def _leaves(profile: Profile) -> Counter[str]:
    values: Counter[str] = Counter()
    for stack, numbers in profile.rows():
        values[plain_stack(stack[-1:])] += int(numbers[0])
    return values


def _strace(source: Path, want: Want) -> None:
    if not want["ok_calls"]:
        return _refuses(source, ProfileError, "summary of strace -c|the log holds no call of mmap")
    totals = totals_of(read(source))
    assert totals["mapped_bytes"] + totals["reserved_bytes"] == want["mmap_bytes_requested"]
    assert totals["unmapped_bytes"] == want["munmap_bytes"]
    assert totals["heap_bytes"] == want["brk_net_growth"]
    assert totals["calls"] == sum(want["ok_calls"].get(name, 0) for name in CALLS)
    assert totals["failed_calls"] == want["failed_calls"]


_CHECKS: dict[str, Callable[[Path, Any], None]] = {
    "bpftrace": _bpftrace,
    "folded": _folded,
    "gperftools": _sampled_heap,
    "heaptrack": _heaptrack,
    "jemalloc": _sampled_heap,
    "massif": _massif,
    "meminfo": proc_counts.meminfo,
    "memleak-bcc": _memleak,
    "perf-script": _perf_script,
    "pidstat": proc_counts.pidstat,
    "pprof": _pprof,
    "smaps": proc_counts.smaps,
    "stackcount": _stackcount,
    "strace": _strace,
}
