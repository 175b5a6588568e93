"""`memflame rates`: events a second of a live process, or of all, line by line, before anyone records."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tracer.commands.stopping import asked_to_stop

if TYPE_CHECKING:
    from tracer.collectors.rates import Rates
    from tracer.commands.rates_view import View

_SHORTEST_INTERVAL_S, _LONGEST_INTERVAL_S = 0.1, 3600
_TOP = 10

# Seconds since the counting began, seconds counted, and their rates: of the process, or of all and then of each.
Interval = tuple[float, float, "list[Rates]"]


def rates(
    pid: Annotated[int | None, typer.Option(min=1, help="Process to count")] = None,
    every_process: Annotated[bool, typer.Option("--all", help="Count all processes of this host")] = False,
    interval: Annotated[float, typer.Option(help="Seconds between two lines")] = 1.0,
    count: Annotated[int, typer.Option(min=0, help="Lines to print; 0: until Ctrl-C or the process exits")] = 0,
    top: Annotated[int | None, typer.Option(min=0, help=f"With --all: processes to list; default: {_TOP}")] = None,
    allocators: Annotated[
        bool, typer.Option("--malloc", help="With --all: count malloc and free too, at 1 µs for each call on the host")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print each line as a JSON object")] = False,
) -> None:
    """Print events a second: malloc, free, brk, mmap, munmap, minor and major page faults.

    Nothing is recorded. Each malloc and free costs the process about 1 µs meanwhile, faults cost nothing.
    Exit codes: 0 counted, 1 not counted, 2 wrong usage.
    """
    _check(pid, every_process, interval, of_all={"--top": top is not None, "--malloc": allocators})
    from tracer.collectors import CollectorError
    from tracer.collectors.ability import abilities
    from tracer.commands.rates_view import Lines, Table

    if obstacle := abilities()["malloc"]:
        _fail(obstacle)
    with asked_to_stop() as should_stop:
        try:
            if pid is not None:
                lines = _of_process(pid, interval, should_stop)
            else:
                lines = _of_host(interval, should_stop, _TOP if top is None else top, allocators)
            _print(lines, count, Lines() if as_json else Table(names_processes=every_process))
        except CollectorError as error:
            _fail(str(error))


def _check(pid: int | None, every_process: bool, interval: float, *, of_all: dict[str, bool]) -> None:
    if (pid is None) != every_process:
        raise typer.BadParameter("give either --pid or --all")
    if not _SHORTEST_INTERVAL_S <= interval <= _LONGEST_INTERVAL_S:
        raise typer.BadParameter(
            f"--interval is {interval:g} s, it must be from {_SHORTEST_INTERVAL_S} to {_LONGEST_INTERVAL_S:,} s"
        )
    for name, is_given in of_all.items():
        if is_given and not every_process:
            raise typer.BadParameter(f"{name} goes with --all only")


def _of_process(pid: int, interval: float, should_stop: Callable[[], bool]) -> Generator[Interval]:
    """One a round; the last one is shorter if something ends it."""
    from tracer.collectors.counting import Counting
    from tracer.collectors.rates import rates_of

    with Counting(pid) as counting:
        before, is_alive = counting.read(), True
        while is_alive and not should_stop():
            is_alive = counting.wait(interval, should_stop)
            now = counting.read()
            yield now.seconds, now.seconds - before.seconds, [rates_of(now.since(before))]
            before = now
    if not is_alive:
        print(f"memflame rates: process {pid} has exited", file=sys.stderr)


def _of_host(interval: float, should_stop: Callable[[], bool], top: int, allocators: bool) -> Generator[Interval]:
    from tracer.collectors.host_counting import HostCounting
    from tracer.collectors.rates import host_rates

    with HostCounting(counts_allocators=allocators) as counting:
        elapsed = 0.0
        while not should_stop():
            counting.wait(interval, should_stop)
            seconds, processes = counting.take()
            elapsed += seconds
            yield elapsed, seconds, host_rates(processes, seconds, top=top, counts_allocators=allocators)


def _print(lines: Generator[Interval], count: int, view: View) -> None:
    """Each line at once, also into a pipe; one that nobody reads any more ends the counting."""
    try:
        with closing(lines):
            print(view.header, end="", flush=True)
            for number, (elapsed_s, seconds, moment) in enumerate(lines, start=1):
                for known in moment:
                    print(view.line(elapsed_s, seconds, known), flush=True)
                if number == count:
                    break
    except BrokenPipeError:
        # Or Python complains when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(text: str) -> NoReturn:
    print(f"memflame rates: {text}", file=sys.stderr)
    raise typer.Exit(1)
