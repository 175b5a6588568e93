"""`memflame doctor`: what this host can record, why not, and what mends it; of one process, how well."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from tracer import __version__
from tracer.collectors.ability import abilities, abilities_by_perf
from tracer.collectors.check import Check
from tracer.collectors.host_checks import host_checks
from tracer.protocol import COLLECTORS


def doctor(
    pid: Annotated[int, typer.Option(min=0, metavar="PID", help="Also look at this process")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print all as one JSON object")] = False,
) -> None:
    """Say what this host can record, why not, and what mends it.

    Exit codes: 0 every collector can run, and the process can be recorded; 1 not so.
    """
    collectors = abilities()
    target = _target_checks(pid)
    if as_json:
        print(json.dumps(_report(collectors, target), indent=2))
    else:
        print(_text(collectors, target))
    if any(collectors.values()) or any(check.state == "failure" for check in target):
        raise typer.Exit(1)


def _target_checks(pid: int) -> list[Check]:
    if not pid:
        return []
    from tracer.collectors.target_checks import target_checks

    return target_checks(pid)


def _report(collectors: dict[str, str], target: Sequence[Check]) -> dict[str, Any]:
    return {
        "collectors": collectors,
        "perf": abilities_by_perf(),
        "host": [asdict(check) for check in host_checks()],
        "process": [asdict(check) for check in target],
        "versions": {"memflame": __version__, "python": platform.python_version()},
    }


def _text(collectors: dict[str, str], target: Sequence[Check]) -> str:
    width = max(map(len, COLLECTORS))
    by_perf = abilities_by_perf()
    lines = [f"{name:{width}}  {_standing(why_not, by_perf[name])}" for name, why_not in collectors.items()]
    lines += ["", *_lines(host_checks())]
    if target:
        lines += ["", *_lines(target)]
    return "\n".join([*lines, "", f"memflame {__version__}, Python {platform.python_version()}"])


def _standing(why_not: str, why_not_by_perf: str) -> str:
    if not why_not:
        return "ready"
    return why_not if why_not_by_perf else f"by perf only (--source perf): {why_not}"


def _lines(checks: Sequence[Check]) -> list[str]:
    lines: list[str] = []
    width = max(len(check.name) for check in checks)
    for check in checks:
        lines.append(f"{check.state:7}  {check.name:{width}}  {check.text}")
        if check.mend and check.state != "ok":
            lines.append(f"{'':{7 + 2 + width + 2}}{check.mend}")
    return lines
