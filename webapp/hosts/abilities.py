"""What a host can do: each collector of the contract, with the reason why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tracer.options.perf import BLIND
from tracer.options.pull import PULLED
from tracer.protocol import COLLECTORS, CollectorFacts
from webapp.hosts.models import Host

PULLS = "pulled profiles"  # the check by which an agent tells what it allows
MAX_ROWS = 100  # a person filters instead of reading on; a host may run thousands


@dataclass(frozen=True, slots=True)
class Ability:
    collector: CollectorFacts
    why_not: str  # empty: the host can
    why_not_by_perf: str

    @property
    def is_able(self) -> bool:
        return not self.why_not or self.is_able_by_perf

    @property
    def is_able_by_perf(self) -> bool:
        return not self.why_not_by_perf

    @property
    def is_by_perf_only(self) -> bool:
        return bool(self.why_not) and self.is_able_by_perf

    @property
    def is_pulled(self) -> bool:
        return self.collector.name in PULLED

    @property
    def blind(self) -> str:
        """What perf does not see."""
        return BLIND.get(self.collector.name, "")


def abilities_of(host: Host) -> list[Ability]:
    """By the agent's last heartbeat; an agent that does not know a collector is too old for it."""
    told: Mapping[str, str] = host.facts.get("collectors", {})
    unknown = "its agent does not know this collector" if told else "its agent has not said yet"
    by_perf: Mapping[str, str] = host.facts.get("perf", {})
    return [
        Ability(facts, str(told.get(name, unknown)), str(by_perf.get(name, "its agent has said nothing of perf")))
        for name, facts in COLLECTORS.items()
    ]


@dataclass(frozen=True, slots=True)
class Reach:
    """What a host can record, and why not the rest: collectors with one reason stand together."""

    able: list[str]
    by_perf: list[str]
    blocked: dict[str, list[str]]  # reason: collectors, or those that perf alone can record


def reach_of(host: Host) -> Reach:
    reach = Reach([], [], {})
    for ability in abilities_of(host):
        name = ability.collector.name
        if not ability.why_not:
            reach.able.append(name)
            continue
        reach.blocked.setdefault(ability.why_not, []).append(name)
        if ability.is_able_by_perf:
            reach.by_perf.append(name)
    return reach


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What `memflame doctor` says of a host, what is worst first."""

    checks: list[Mapping[str, str]]
    failures: int
    warnings: int


def pulls_of(host: Host) -> str:
    """From where its agent pulls profiles, in words behind "pulls"; agents before 0.2 say nothing."""
    checks: list[Mapping[str, str]] = host.facts.get("checks", [])
    return next((check["text"] for check in checks if check["name"] == PULLS), "")


_BY_WEIGHT = ("failure", "warning", "ok")


def diagnosis_of(host: Host) -> Diagnosis:
    """By the agent's last heartbeat; agents before 0.2 send none."""
    checks: list[Mapping[str, str]] = sorted(
        host.facts.get("checks", []), key=lambda check: _BY_WEIGHT.index(check["state"])
    )
    states = [check["state"] for check in checks]
    return Diagnosis(checks, states.count("failure"), states.count("warning"))


@dataclass(frozen=True, slots=True)
class ProcessList:
    """Rows of the live list for one table: the largest first, at the end the chosen one if it is not among them."""

    rows: list[dict[str, Any]]
    matching: int
    running: int


def processes_of(host: Host, *, text: str = "", chosen: str = "") -> ProcessList:
    """Filter by a part of pid, command or user."""
    words = text.lower().split()
    rows = [_row(process) for process in host.processes]
    matching = [row for row in rows if all(word in row["haystack"] for word in words)]
    matching.sort(key=lambda row: (-row["rss_bytes"], row["pid"]))
    shown = matching[:MAX_ROWS]
    shown += [row for row in rows if row["key"] == chosen and row not in shown]
    return ProcessList(shown, len(matching), len(rows))


def _row(process: Mapping[str, Any]) -> dict[str, Any]:
    """A pid is used again after its process is gone: pid and start together name one."""
    haystack = f"{process['pid']} {process.get('command', '')} {process.get('user', '')}".lower()
    row = {"command": "", "user": "", "rss_bytes": 0, "started_at": "", **process}
    return {**row, "key": key_of(process), "haystack": haystack}


def key_of(process: Mapping[str, Any]) -> str:
    return f"{process['pid']}-{process.get('start_time', 0)}"
