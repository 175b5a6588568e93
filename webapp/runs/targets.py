"""The process that a person picked, and others recorded with it, to a run spec's target, and back to words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tracer.selector import MAX_SELECTED, BadSelector, Selector
from webapp.hosts.models import Host

TARGET_OPTIONS = ("follow_children", "by_process")  # of a run spec, 1 where they are asked for
TARGET_FIELDS = (*TARGET_OPTIONS, "all_named", "also_pids")

Process = Mapping[str, Any]  # a row of Host.processes


class BadTarget(ValueError):
    """These processes can't be recorded together; says why."""


def same_command(host: Host, process: Process) -> list[Process]:
    """All of the live list that were started by the same words, this one first."""
    others = [row for row in host.processes if row != process and _command(row) and _command(row) == _command(process)]
    return [process, *others]


def with_pids(host: Host, processes: Iterable[Process], text: str) -> list[Process]:
    """And those with the pids of a text such as `4712, 4713`; BadTarget for one that doesn't run."""
    found = {row["pid"]: row for row in processes}
    try:
        pids = Selector.of("pids", text).pids if text.strip() else {}
    except BadSelector as error:
        raise BadTarget(f"{str(error)[:1].upper()}{str(error)[1:]}. Separate pids by commas.") from None
    for pid in pids:
        row = host.process(pid)
        if row is None:
            raise BadTarget(f"Process {pid} does not run on {host.name} now.")
        found.setdefault(pid, row)
    if len(found) > MAX_SELECTED:
        raise BadTarget(f"These are {len(found)} processes, the limit of a run is {MAX_SELECTED}.")
    return list(found.values())


def target_of(processes: list[Process]) -> str:
    """Empty for one process, which the spec's pid names."""
    if len(processes) < 2:
        return ""
    return str(Selector.of_pids((int(row["pid"]), int(row.get("start_time", 0))) for row in processes))


def target_words(spec: Mapping[str, Any]) -> str:
    """`4711`, `4711, 4712 and their children`, `named worker`; empty for a run without a spec, an upload."""
    if not (spec.get("target") or spec.get("pid")):
        return ""
    selector = Selector.parse(spec["target"]) if spec.get("target") else Selector.of_pids([(spec["pid"], 0)])
    if not spec.get("options", {}).get("follow_children"):
        return selector.words
    return f"{selector.words} and {'its' if len(selector.pids) == 1 else 'their'} children"


def _command(row: Process) -> str:
    return str(row.get("command", ""))
