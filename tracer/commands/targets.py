"""Options that say which processes to record, to a selector and to those that are there now."""

from __future__ import annotations

from typing import Annotated

import typer

from tracer.process.selection import Found, select
from tracer.selector import MAX_SELECTED, BadSelector, Selector

Pids = Annotated[
    list[str] | None,
    typer.Option("--pid", metavar="PID[,PID]", help="Process to record; several by commas or by several --pid"),
]
Name = Annotated[
    str | None,
    typer.Option(metavar="NAME", help=f"Record all processes of this command or program, {MAX_SELECTED} at most"),
]
Cgroup = Annotated[str | None, typer.Option(metavar="PATH", help="Record a control group and all below it")]
Unit = Annotated[str | None, typer.Option(metavar="UNIT", help="Record a unit of systemd, such as nginx.service")]
Container = Annotated[str | None, typer.Option(metavar="ID", help="Record a container, by 12 or more digits of its id")]
FollowChildren = Annotated[bool, typer.Option("--follow-children", help="Record the processes that they start, too")]
ByProcess = Annotated[bool, typer.Option("--by-process", help="Put a frame for the process at the root of each stack")]


def selector_of(
    *, pids: list[str] | None, name: str | None, cgroup: str | None, unit: str | None, container: str | None,
    is_needed: bool = True,
) -> Selector | None:  # fmt: skip
    """Of the one option that was given; wrong usage if there is more than one, or none where one is needed."""
    asked = {"pids": ",".join(pids or ()), "name": name, "cgroup": cgroup, "unit": unit, "container": container}
    given = {kind: text for kind, text in asked.items() if text is not None and (text or kind != "pids")}
    if not given and not is_needed:
        return None
    if len(given) != 1:
        reason = f"{len(given)} were given" if given else "none was given"
        raise typer.BadParameter(f"one of --pid, --name, --cgroup, --unit and --container is needed, {reason}")
    try:
        return Selector.of(*given.popitem())
    except BadSelector as error:
        raise typer.BadParameter(str(error)) from None


def one_pid(pids: list[str] | None) -> int:
    """Of a command that takes a single process."""
    selector = selector_of(pids=pids, name=None, cgroup=None, unit=None, container=None)
    if selector is None or len(selector.pids) != 1:
        count = 0 if selector is None else len(selector.pids)
        raise typer.BadParameter(f"an estimate is of one process, --pid names {count}")
    return next(iter(selector.pids))


def selected_now(selector: Selector) -> list[Found]:
    """Those that are there, also told to the person unless they were named one by one; TargetError if there is none."""
    found = select(selector)
    if selector.kind != "pids":
        count = "1 process is" if len(found) == 1 else f"{len(found)} processes are"
        pids = ", ".join(str(known.pid) for known in found)
        typer.echo(f"{count} {selector.words}: {pids}", err=True)
    return found


def target_of(found: list[Found]) -> str:
    """For a run spec, which names a single process by its pid alone."""
    pairs = [(known.pid, known.start_time) for known in found]
    return str(Selector.of_pids(pairs)) if len(pairs) > 1 else ""
