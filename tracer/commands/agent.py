"""`memflame agent`: serve a site on this host until it is told to stop."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Annotated

import typer

from tracer.agent.children import BROKER_ENV
from tracer.agent.serve import AgentOptions, serve
from tracer.agent.spool import SpoolError
from tracer.client import ClientError, read_token
from tracer.pull.allowed import LOOPBACK, NONE, Allowed, BadRule

SPOOL = Path("/var/lib/memflame/spool")


def agent(
    server: Annotated[str, typer.Option(help="Address of the site, as https://memflame.example")],
    token_file: Annotated[
        Path | None, typer.Option(help="File of mode 0600 with this host's token; default: MEMFLAME_TOKEN")
    ] = None,
    broker: Annotated[
        str,
        typer.Option(
            help="redis://… or memflame-files:///folder; default: MEMFLAME_BROKER, else none: the site is asked",
            show_default=False,
        ),
    ] = "",
    spool: Annotated[Path, typer.Option(help="Folder for snapshots that are not sent yet")] = SPOOL,
    concurrency: Annotated[int, typer.Option(min=1, max=16, help="Recordings at the same time")] = 2,
    allow_url: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help=f"Pull profiles from addresses that begin so; {LOOPBACK}, the default: from this host; or {NONE}. "
            "Repeatable",
        ),
    ] = None,
    allow_files: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Read profiles from such files, '/var/log/jeprof.*.heap', beside those that a process names in its "
            f"environment; or {NONE}. Repeatable",
        ),
    ] = None,
) -> None:
    """Serve a memflame site on this host: report its processes, take its runs, record them, send what was recorded.

    Recording needs root. Ctrl-C or SIGTERM ends it within 10 seconds and leaves no probe behind.
    """
    _log_to_stderr()
    try:
        allowed = Allowed.of(allow_url or (), allow_files or ())
    except BadRule as error:
        raise typer.BadParameter(str(error)) from None
    try:
        serve(
            AgentOptions(
                server=server,
                token=read_token(token_file),
                spool=spool,
                broker=broker or os.environ.get(BROKER_ENV, ""),
                concurrency=concurrency,
                allowed=allowed,
            )
        )
    except (ClientError, SpoolError) as error:
        typer.echo(f"memflame agent: {error}", err=True)
        raise typer.Exit(1) from None


def _log_to_stderr() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(threadName)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)  # a line for each heartbeat tells nothing
