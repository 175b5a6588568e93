"""`memflame symbols upload`: send binaries or debug files to a site, whose runs then have names."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tracer.client import ClientError, SiteClient, Upload, read_token
from tracer.commands.sending import packed, progress


class Action(StrEnum):
    UPLOAD = "upload"


def symbols(
    action: Annotated[Action, typer.Argument(help="upload: send the files")],
    files: Annotated[list[Path], typer.Argument(help="Binaries as they were built, or debug files split off them")],
    server: Annotated[str, typer.Option(help="Address of the site, as https://memflame.example")],
    project: Annotated[str, typer.Option(help="Project whose runs need the names")],
    name: Annotated[
        str, typer.Option(help="File name that the binary has where it runs, if the file here has another one")
    ] = "",
    token_file: Annotated[
        Path | None, typer.Option(help="File of mode 0600 with a project token; default: MEMFLAME_TOKEN")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the site's answers as JSON, one object a file")
    ] = False,
) -> None:
    """Send binaries or debug files to a memflame site: runs of the project get the names of their functions.

    Runs that are there get them now, those to come when they arrive. The token comes from MEMFLAME_TOKEN or
    --token-file. Exit codes: 0 all sent, 1 one was not sent, 2 wrong usage.
    """
    if name and len(files) > 1:
        raise typer.BadParameter("--name is for one file")
    try:
        client = SiteClient(server, read_token(token_file))
    except ClientError as error:
        _say(str(error))
        raise typer.Exit(1) from None
    if client.is_in_clear:
        _say(f"{client.server} is reached without TLS: whoever sees the traffic has the token")
    replies = [_sent(client, Upload(file, project, name=name or file.name)) for file in files]
    done = [reply for reply in replies if reply is not None]
    for line in [json.dumps(done)] if as_json else map(_sentence, done):
        print(line)
    if len(done) < len(files):
        raise typer.Exit(1)


def _sent(client: SiteClient, wanted: Upload) -> dict[str, Any] | None:
    try:
        with packed(wanted) as ready, progress(ready.path.stat().st_size, wanted.path.name, _say) as on_sent:
            return client.upload_symbols(ready, on_sent=on_sent)
    except ClientError as error:
        _say(f"{wanted.path} was not sent: {error}")
    except OSError as error:
        _say(f"can't read {error.filename or wanted.path}: {error.strerror}")
    return None


def _sentence(reply: dict[str, Any]) -> str:
    build_id = f", build id {reply['build_id'][:16]}" if reply["build_id"] else ", without a build id"
    runs = reply["runs"]
    count = "no run needs it now" if not runs else "1 run gets names" if runs == 1 else f"{runs:,} runs get names"
    return f"{reply['module']} ({reply['kind']}{build_id}): {count}"


def _say(text: str) -> None:
    typer.echo(f"memflame symbols: {text}", err=True)
