"""Real files of other tools and what they must come to; their licences keep them out of the repository."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tracer import protocol
from tracer.profile.errors import EmptyProfile
from tracer.profile.formats import read_profile
from tracer.profile.model import Profile

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"


def counted(folder: str) -> list[Any]:
    """Files of a folder with the counts that were made apart; none where the corpus does not lie beside us."""
    found = sorted((CORPUS / folder).glob("*.totals.json"))
    return [
        pytest.param(path, json.loads(path.read_text()), id=path.name.removesuffix(".totals.json")) for path in found
    ]


def read(totals: Path) -> Profile:
    with totals.with_name(totals.name.removesuffix(".totals.json")).open("rb") as stream:
        return read_profile(stream, resolve=protocol.value_type_named)


def totals_of(profile: Profile) -> dict[str, float]:
    return {known.name: profile.total(column) for column, known in enumerate(profile.value_types)}


@pytest.mark.parametrize(("path", "want"), counted("stackcount"))
def test_stackcount_calls_are_all_there(path: Path, want: Mapping[str, Any]) -> None:
    profile = read(path)

    assert profile.total() == want["total"]
    if "by_comm" in want:
        roots = {stack[0]: 0 for stack, _ in profile.rows() if want["by_comm"]}
        for stack, values in profile.rows():
            if stack[0] in roots:
                roots[stack[0]] += int(values[0])
        assert roots == want["by_comm"]


@pytest.mark.parametrize(("path", "want"), [row for row in counted("memleak-bcc") if row.values[1]["reports"]])
def test_memleak_shows_its_last_report(path: Path, want: Mapping[str, Any]) -> None:
    profile, last = read(path), want["reports"][-1]

    assert totals_of(profile) == {"outstanding_bytes": last["bytes"], "outstanding_objects": last["allocations"]}


@pytest.mark.parametrize(("path", "want"), [row for row in counted("bpftrace") if row.values[1]["maps"]])
def test_each_map_of_bpftrace_is_a_value_type_of_its_own(path: Path, want: Mapping[str, Any]) -> None:
    profile = read(path)

    sums = {(name.removeprefix("@") or "value"): known["sum"] for name, known in want["maps"].items()}
    assert totals_of(profile) == {name: total for name, total in sums.items() if total}


HEAPS = [row for row in [*counted("jemalloc"), *counted("gperftools")] if "unsampled" in row.values[1]]


@pytest.mark.parametrize(("path", "want"), HEAPS)
def test_sampled_heaps_come_to_what_was_computed_apart(path: Path, want: Mapping[str, Any]) -> None:
    profile = read(path)

    wanted = {name.replace("space", "bytes"): total for name, total in want["unsampled"].items()}
    for name, total in totals_of(profile).items():
        assert total == pytest.approx(wanted[name], abs=0.06)


@pytest.mark.parametrize(("path", "want"), [row for row in counted("massif") if row.values[1]["peak_root_bytes"]])
def test_massif_shows_its_peak(path: Path, want: Mapping[str, Any]) -> None:
    profile = read(path)

    assert profile.total() == want["peak_root_bytes"]
    assert profile.capture["command"] == want["cmd"]


@pytest.mark.parametrize(("path", "want"), [row for row in counted("massif") if not row.values[1]["tree_nodes"]])
def test_massif_without_a_tree_is_refused(path: Path, want: Mapping[str, Any]) -> None:
    with pytest.raises(EmptyProfile, match=f"none of massif's snapshots, {want['snapshots']} in all, has a tree"):
        read(path)


@pytest.mark.parametrize(("path", "want"), counted("heaptrack"))
def test_heaptrack_is_replayed_to_the_same_costs(path: Path, want: Mapping[str, Any]) -> None:
    names = ("allocations", "temporary", "peak_bytes", "leaked_bytes")

    assert totals_of(read(path)) == {name: want[name] for name in names}


PPROF = sorted((CORPUS / "pprof").glob("*.expected.json"))


@pytest.mark.parametrize("path", PPROF, ids=lambda path: path.name[:-14])
def test_each_sample_type_of_pprof_has_its_sum_and_the_default_is_first(path: Path) -> None:
    want = json.loads(path.read_text())
    source = path.with_name(path.name.removesuffix(".expected.json"))
    raw = (
        source.read_bytes() if source.exists() else gzip.decompress(source.with_name(f"{source.name}.gz").read_bytes())
    )
    profile = read_profile(io.BytesIO(raw), resolve=protocol.value_type_named)

    names = [text.partition("/")[0].lower() for text in want["sample_types"]]
    assert totals_of(profile) == dict(zip(names, want["totals"], strict=True))
    assert profile.value_types[0].name == names[want["default_index_rule"]]


STRACES = [row for row in counted("strace") if row.values[1]["ok_calls"]]
MEMORY_CALLS = ("mmap", "munmap", "mremap", "mprotect", "madvise", "brk")


@pytest.mark.parametrize(("path", "want"), STRACES)
def test_strace_logs_come_to_what_was_counted_apart(path: Path, want: Mapping[str, Any]) -> None:
    totals = totals_of(read(path))

    assert totals["mapped_bytes"] + totals["reserved_bytes"] == want["mmap_bytes_requested"]
    assert totals["unmapped_bytes"] == want["munmap_bytes"]
    assert totals["heap_bytes"] == want["brk_net_growth"]
    assert totals["calls"] == sum(want["ok_calls"].get(name, 0) for name in MEMORY_CALLS)
    assert totals["failed_calls"] == want["failed_calls"]
