"""`memflame`: one command, one file, loaded when it is called so that the command line starts at once."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tracer import __version__


@dataclass(frozen=True, slots=True)
class Command:
    """The module of that name, `_` for each `-`, has a typer function `function`."""

    function: str
    summary: str


COMMANDS: dict[str, Command] = {
    "record": Command("record", "Record memory stacks of a live process"),
    "rates": Command("rates", "Print events a second of a process, or of all"),
    "upload": Command("upload", "Send a profile to a memflame site"),
    "symbols": Command("symbols", "Send binaries to a site, for names of frames that have none"),
    "convert": Command("convert", "Read a profile, list or write its value types"),
    "diff": Command("diff", "Print stack, before and after of two profiles"),
    "dtrace-script": Command("dtrace_script", "Print a DTrace script that logs allocations and frees"),
    "agent": Command("agent", "Serve a memflame site on this host"),
    "doctor": Command("doctor", "Say what this host can record, and why not"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point. Exit codes: 0 ok, 1 the work failed, 2 wrong usage."""
    first, *rest = (sys.argv[1:] if arguments is None else list(arguments)) or ["--help"]
    if first in ("-h", "--help"):
        print(_help())
        return 0
    if first == "--version":
        print(f"memflame {__version__}")
        return 0
    if first not in COMMANDS:
        print(f"memflame: no command {first!r}, there is {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    return _run(first, rest)


def _run(name: str, arguments: Sequence[str]) -> int:
    import typer

    module = importlib.import_module(f"tracer.commands.{name.replace('-', '_')}")
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name, context_settings={"help_option_names": ["-h", "--help"]})(
        getattr(module, COMMANDS[name].function)
    )
    app(args=list(arguments), prog_name=f"memflame {name}")
    return 0


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "Usage: memflame [--version] COMMAND [OPTIONS]",
            "",
            "Which code path made this process's memory grow, and by how much.",
            "",
            *lines,
            "",
            "memflame COMMAND --help tells more.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
